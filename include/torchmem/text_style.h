// How text for people looks.
#pragma once

#include <cstddef>
#include <optional>

namespace torchmem {

struct TextStyle {
  size_t width = 80;  // sentences are broken there, and bars end there
  // A terminal: no line is wider than `width`, and names that are lose a part. Else names are whole, however
  // wide the line gets.
  bool cuts = false;
  bool colours = false;  // of a terminal
  bool blocks = false;   // bars of Unicode's block characters, else of '#'
  // Entries of each list. Nothing: a few, and only of the lists that a first look wants.
  std::optional<size_t> top;
};

}  // namespace torchmem
