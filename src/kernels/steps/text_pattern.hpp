#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

/// Patterns of `match`: the whole text, in ECMAScript syntax as in libstdc++'s std::regex with the "C" locale.
///
/// std::regex recurses for every byte of the text, so long texts exhaust the stack, and some patterns take exponential
/// time. Patterns therefore run as automata with lazily built deterministic states: the time grows only with the text.
/// Patterns that no automaton can decide (back references, look-ahead, word boundaries) and a few rare forms are left
/// to std::regex, with a limit on its steps per text.
namespace gpulog::kernels {

/// A nondeterministic automaton; `begin` is the initial state.
struct pattern_automaton {
  using byte_set = std::array<std::uint64_t, 4>;
  enum class kind : std::uint8_t { bytes, fork, text_begin, text_end, accept };
  struct state {
    kind what = kind::fork;
    std::uint32_t bytes = 0;  ///< number of its set
    std::uint32_t next = none;
    std::uint32_t other = none;  ///< second branch of a fork
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  std::vector<state> states;
  std::vector<byte_set> sets;
  std::uint32_t begin = none;
};

/// Result of parsing a pattern.
struct parsed_pattern {
  enum class outcome : std::uint8_t { automaton, left_to_library, wrong };
  outcome what = outcome::wrong;
  pattern_automaton automaton;
};

[[nodiscard]] parsed_pattern parse_pattern(std::string_view pattern);

/// A compiled pattern, matched many times by one thread.
class text_pattern {
 public:
  enum class outcome : std::uint8_t { no, yes, bad_pattern, too_complex };

  explicit text_pattern(std::string_view pattern);
  [[nodiscard]] outcome match(std::string_view text);

 private:
  struct deterministic_state {
    std::vector<std::uint32_t> members;  ///< ascending: states that read a byte, end assertions and accepting states
    std::array<std::int32_t, 256> next;  ///< -1: not built yet
    bool accepts = false;                ///< if the text ends here
  };

  [[nodiscard]] bool run(std::string_view text);
  /// Adds the states reachable from a state without reading a byte.
  void follow(std::uint32_t state, bool at_begin, bool at_end);
  std::int32_t make_state(std::vector<std::uint32_t> members);
  std::int32_t step(std::int32_t from, unsigned char byte);
  void start_over();
  void start_round();
  [[nodiscard]] bool reaches_accept() const;

  parsed_pattern parsed_;
  std::optional<std::regex> library_;
  std::size_t longest_text_ = SIZE_MAX;  ///< for the library
  std::vector<deterministic_state> states_;
  std::map<std::vector<std::uint32_t>, std::int32_t> known_;
  std::size_t kept_members_ = 0;
  // Scratch memory of follow().
  std::vector<std::uint32_t> seen_;  ///< by state: the last round that reached it
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> reached_, pending_;
};

}  // namespace gpulog::kernels
