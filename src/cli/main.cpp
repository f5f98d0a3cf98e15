#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <system_error>

#include "cli/commands.h"
#include "cli/help_format.h"
#include "cli/mistakes.h"
#include "cli/output.h"
#include "launch/first_process.h"
#include "text/words.h"

namespace torchmem {
namespace {

constexpr const char* description =
    "How much CUDA memory a PyTorch model takes, where it goes, and what would make it less:\n"
    "to the byte, on a real GPU or with none at all.";

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) names.emplace_back(entry.name);
  return names;
}

constexpr int not_utf8 = 316;  // nlohmann::json's number of that error

void say(const std::string& message) { std::cerr << "torchmem: " << message << std::endl; }

ExitCode fail(const Command& command, const Error& error) {
  say(error.what());
  if (command.result_written) return exit_code_of(error.kind());
  if (command.common.json == "-" || (!command.common.json.empty() && command.outputs_checked)) {
    nlohmann::json document = command.error_document(error);
    if (!document.is_null()) {
      try {
        write_json_output(command.common.json, document);
      } catch (const Error& second) {
        if (std::string(second.what()) != error.what()) say(second.what());
      }
    }
  }
  return exit_code_of(error.kind());
}

// The first option that was given nothing, as by a variable of CI that is not set; "" for none.
std::string empty_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end()) return option->get_name();
  }
  return "";
}

Error unexpected(const std::exception& error) {
  return {ErrorKind::internal, std::string("something unexpected went wrong: ") + error.what()};
}

ExitCode run_command(Command& command) {
  try {
    start_log(command.common);
    return command.run();
  } catch (const Error& error) {
    return fail(command, error);
  } catch (const std::bad_alloc&) {
    return fail(command, Error(ErrorKind::unavailable,
                               "this machine's memory ran out (host memory, not the device's)"));
  } catch (const nlohmann::json::type_error& error) {
    return fail(command, error.id == not_utf8
                             ? Error(ErrorKind::bad_usage,
                                     "a path or a name that was given is not UTF-8 text, which results and "
                                     "requests to the engine have to be. Rename it, or give a link to it")
                             : unexpected(error));
  } catch (const std::exception& error) {
    return fail(command, unexpected(error));
  }
}

// Parses and runs. The program's own arguments stand after "--" and are none of ours.
ExitCode dispatch(std::vector<std::string> arguments) {
  arguments = spell_out_help(std::move(arguments));
  CLI::App app(description, "torchmem");
  app.set_version_flag("--version", "torchmem " TORCHMEM_VERSION);
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer("torchmem COMMAND --help describes each command.");
  std::vector<std::unique_ptr<Command>> commands;
  std::vector<CLI::App*> parsers;
  for (const CommandEntry& entry : command_table()) {
    commands.push_back(entry.make());
    parsers.push_back(app.add_subcommand(entry.name, entry.summary));
    commands.back()->declare(*parsers.back());
    add_common_options(*parsers.back(), commands.back()->common);
  }
  const std::vector<std::string> names = command_names();
  if (!arguments.empty() && !arguments[0].starts_with('-') &&
      std::find(names.begin(), names.end(), arguments[0]) == names.end()) {
    const std::string meant = nearest(arguments[0], names);
    say(fmt::format("there is no command '{}'.{} Commands: {}.", arguments[0],
                    meant.empty() ? "" : fmt::format(" Did you mean {}?", meant), joined(names)));
    return ExitCode::could_not;
  }
  std::vector<std::string> program;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (arguments.empty() || arguments[0] != command_table()[i].name || !command_table()[i].takes_program)
      continue;
    auto separator = std::find(arguments.begin(), arguments.end(), "--");
    if (separator == arguments.end()) continue;
    commands[i]->program.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
  }
  const std::vector<std::string> given = arguments;
  std::reverse(arguments.begin(), arguments.end());  // the order in which CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return static_cast<ExitCode>(app.exit(error));  // --help, --version
    CLI::App* parser = &app;
    for (CLI::App* candidate : app.get_subcommands()) parser = candidate;
    const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    say(fmt::format("{}\nSee torchmem {}--help.", is_unknown ? unexpected_text(*parser, given) : error.what(),
                    parser == &app ? "" : parser->get_name() + " "));
    return ExitCode::could_not;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    if (!parsers[i]->parsed()) continue;
    if (std::string empty = empty_option(*parsers[i]); !empty.empty())
      return fail(*commands[i],
                  Error(ErrorKind::bad_usage, empty + " is empty: leave it out, or see why there "
                                                      "is nothing in it"));
    return run_command(*commands[i]);
  }
  return ExitCode::could_not;
}

}  // namespace
}  // namespace torchmem

int main(int argc, char** argv) {
  return torchmem::run_as_first_process(
      [&] { return static_cast<int>(torchmem::dispatch(torchmem::spell_out_json(argc, argv))); });
}
