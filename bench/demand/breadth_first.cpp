// A breadth-first search over a file of edges, as one would write it by hand: bench/demand/demand compares with it.

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

int main(int count, char** arguments) {
  if (count != 4) return 2;
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint32_t> from, to;
  std::uint32_t nodes = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto next = [&] {
    std::uint32_t value = 0;
    at = std::from_chars(at, end, value).ptr + 1;
    if (value >= nodes) nodes = value + 1;
    return value;
  };
  while (at < end) {
    from.push_back(next());
    to.push_back(next());
  }
  std::vector<std::uint32_t> first(nodes + 1), targets(to.size());
  for (const std::uint32_t node : from) ++first[node + 1];
  for (std::uint32_t node = 0; node < nodes; ++node) first[node + 1] += first[node];
  std::vector<std::uint32_t> place(first.begin(), first.end() - 1);
  for (std::size_t edge = 0; edge < to.size(); ++edge) targets[place[from[edge]]++] = to[edge];
  std::vector<bool> seen(nodes);
  std::vector<std::uint32_t> found = {static_cast<std::uint32_t>(std::stoul(arguments[3]))};
  for (std::size_t taken = 0; taken < found.size(); ++taken) {
    for (std::uint32_t edge = first[found[taken]]; edge < first[found[taken] + 1]; ++edge) {
      if (seen[targets[edge]]) continue;
      seen[targets[edge]] = true;
      found.push_back(targets[edge]);
    }
  }
  std::ofstream out(arguments[2]);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (seen[node]) out << node << '\n';
  }
}
