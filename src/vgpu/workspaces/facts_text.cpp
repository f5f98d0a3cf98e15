#include "vgpu/workspaces/facts_text.h"

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

using Operation = ConvolutionOperation;

struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "32x3x224" -> {32, 3, 224}
std::vector<uint32_t> numbers(const std::string& text) {
  std::vector<uint32_t> values;
  std::istringstream stream(text);
  for (std::string one; std::getline(stream, one, 'x');) {
    size_t used = 0;
    unsigned long value = one.empty() || one[0] == '-' ? 0 : std::stoul(one, &used);
    if (used == 0 || used != one.size() || value > UINT32_MAX)
      throw BadLine("expected numbers joined by x, got '" + text + "'");
    values.push_back(static_cast<uint32_t>(value));
  }
  return values;
}

void set(uint32_t (&field)[3], const std::vector<uint32_t>& values, uint8_t dimensions) {
  if (values.size() != dimensions) throw BadLine("expected " + std::to_string(dimensions) + " numbers");
  for (size_t i = 0; i < dimensions; ++i) field[i] = values[i];
}

// "32x3x224x224 -> 64 k7x7 p3x3 s2x2 g1"; what is not said is padding 0, stride 1, dilation 1, one group.
ConvolutionProblem read_problem(const ConvolutionProblem& section, const std::string& text) {
  ConvolutionProblem problem = section;
  std::istringstream words(text);
  std::string input, arrow, filters, word;
  if (!(words >> input >> arrow >> filters) || arrow != "->")
    throw BadLine("expected 'INPUT -> FILTERS kKERNEL'");
  std::vector<uint32_t> dims = numbers(input);
  if (dims.size() < 4 || dims.size() > 5) throw BadLine("expected an input of 4 or 5 dimensions");
  auto n = static_cast<uint8_t>(dims.size() - 2);
  problem.dimensions = n;
  problem.batch = dims[0];
  problem.channels = dims[1];
  set(problem.input, {dims.begin() + 2, dims.end()}, n);
  problem.filters = numbers(filters).at(0);
  set(problem.stride, std::vector<uint32_t>(n, 1), n);
  set(problem.dilation, std::vector<uint32_t>(n, 1), n);
  while (words >> word) {
    std::vector<uint32_t> values = numbers(word.substr(1));
    switch (word[0]) {
      case 'k':
        set(problem.kernel, values, n);
        break;
      case 'p':
        set(problem.padding, values, n);
        break;
      case 's':
        set(problem.stride, values, n);
        break;
      case 'd':
        set(problem.dilation, values, n);
        break;
      case 'g':
        problem.groups = values.at(0);
        break;
      default:
        throw BadLine("expected k, p, s, d or g, got '" + word + "'");
    }
  }
  if (problem.kernel[0] == 0) throw BadLine("expected a kernel, kHxW");
  problem.grouping = grouping_of(problem.channels, problem.groups);
  return problem;
}

// "[conv bf16 nhwc]"
ConvolutionProblem read_section(const std::string& line) {
  ConvolutionProblem section;
  std::istringstream words(line.substr(1, line.size() - 2));
  std::string conv, type, layout;
  words >> conv >> type >> layout;
  const DataType* found = nullptr;
  for (const DataType& one : data_types)
    if (type == one.name) found = &one;
  if (conv != "conv" || !found || (layout != "nchw" && layout != "nhwc"))
    throw BadLine("expected [conv TYPE nchw|nhwc] or [other]");
  section.type = found->number;
  section.layout = layout == "nhwc" ? Layout::nhwc : Layout::nchw;
  return section;
}

// "forward data filter", each BYTES[@ENGINE] or -
void read_answers(const ConvolutionProblem& problem, const std::string& text,
                  std::vector<ConvolutionFact>& out) {
  std::istringstream words(text);
  std::string word;
  for (Operation operation : {Operation::forward, Operation::backward_data, Operation::backward_filter}) {
    if (!(words >> word)) throw BadLine("expected three answers: forward, backward data, backward filter");
    if (word == "-") continue;
    size_t at = word.find('@');
    ConvolutionFact fact{problem, -1, std::stoull(word)};
    fact.problem.operation = operation;
    if (at != std::string::npos) fact.engine = std::stoi(word.substr(at + 1));
    out.push_back(fact);
  }
}

NamedFact named_fact(const std::string& key, uint64_t bytes) {
  NamedFact fact{};
  if (key.size() >= sizeof fact.key) throw BadLine("expected a shorter key");
  memcpy(fact.key, key.data(), key.size());
  fact.bytes = bytes;
  return fact;
}

}  // namespace

FactsText read_facts_text(std::istream& text) {
  FactsText facts;
  ConvolutionProblem section;
  enum class Part { header, convolutions, named } part = Part::header;
  size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      if (line == "[other]") {
        part = Part::named;
      } else if (line[0] == '[') {
        section = read_section(line);
        part = Part::convolutions;
      } else if (part == Part::header) {
        std::istringstream words(line);
        std::string name, value;
        words >> name >> value;
        if (name == "gpu") facts.gpu = value;
        if (name == "cudnn") facts.cudnn_version = static_cast<uint32_t>(std::stoul(value));
      } else {
        size_t colon = line.rfind(": ");
        if (colon == std::string::npos) throw BadLine("expected 'PROBLEM: BYTES'");
        std::string problem = line.substr(0, colon), answer = line.substr(colon + 2);
        if (part == Part::named)
          facts.named.push_back(named_fact(problem, std::stoull(answer)));
        else
          read_answers(read_problem(section, problem), answer, facts.convolutions);
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": '" + line + "': " + error.what());
    }
  }
  if (facts.gpu.empty() || facts.cudnn_version == 0)
    throw std::runtime_error("no 'gpu NAME' and 'cudnn VERSION' before the first section");
  return facts;
}

}  // namespace torchmem::vgpu
