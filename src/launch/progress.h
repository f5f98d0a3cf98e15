// One line on a terminal while something takes time; nothing at all elsewhere.
#pragma once

#include <string>

namespace torchmem {

class Progress {
 public:
  Progress(const std::string& what, bool is_quiet);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Another text in its place.
  void show(const std::string& what);
  // Takes the line away.
  void end();

 private:
  bool wanted_ = false;
  bool shown_ = false;
};

}  // namespace torchmem
