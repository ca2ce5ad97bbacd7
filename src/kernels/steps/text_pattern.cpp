#include "kernels/steps/text_pattern.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::kernels {

namespace {

/// Limits on cached deterministic states; beyond, all states are dropped and rebuilt on demand.
constexpr std::size_t most_kept = 500;
constexpr std::size_t most_kept_members = 1'000'000;
/// std::regex recurses for each byte if a pattern has back references.
constexpr std::size_t longest_with_recursion = 2000;
/// Limits std::regex to a second or two per text.
constexpr std::uint64_t most_steps = 100'000'000;
constexpr std::uint64_t most_steps_per_byte = 10'000;

struct too_many_steps {};

/// Reads a text and counts the reads: std::regex offers no other way to stop it.
class counting_iterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator() = default;
  counting_iterator(const char* at, std::uint64_t& steps_left) : at_(at), steps_left_(&steps_left) {}
  reference operator*() const {
    take_step();
    return *at_;
  }
  counting_iterator& operator++() {
    ++at_;
    return *this;
  }
  counting_iterator operator++(int) {
    counting_iterator before = *this;
    ++at_;
    return before;
  }
  counting_iterator& operator--() {
    --at_;
    return *this;
  }
  counting_iterator operator--(int) {
    counting_iterator before = *this;
    --at_;
    return before;
  }
  bool operator==(const counting_iterator& other) const {
    take_step();
    return at_ == other.at_;
  }

 private:
  void take_step() const {
    if (steps_left_ != nullptr && (*steps_left_)-- == 0) throw too_many_steps{};
  }

  const char* at_ = nullptr;
  std::uint64_t* steps_left_ = nullptr;
};

bool holds(const pattern_automaton::byte_set& set, unsigned char byte) {
  return (set[byte / 64] >> (byte % 64) & 1) != 0;
}

}  // namespace

text_pattern::text_pattern(std::string_view pattern) : parsed_(parse_pattern(pattern)) {
  if (parsed_.what == parsed_pattern::outcome::automaton) {
    seen_.assign(parsed_.automaton.states.size(), 0);
    return;
  }
  if (parsed_.what != parsed_pattern::outcome::left_to_library) return;
  const std::string text(pattern);
  try {
#ifdef __GLIBCXX__
    // Time and recursion do not grow with the text; this mode has no back references.
    library_.emplace(text, std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
    return;
  } catch (const std::regex_error& fault) {
    if (fault.code() != std::regex_constants::error_complexity) return;
  }
  try {
#endif
    library_.emplace(text);
    longest_text_ = longest_with_recursion;
  } catch (const std::regex_error&) {
    library_.reset();
  }
}

text_pattern::outcome text_pattern::match(std::string_view text) {
  if (parsed_.what == parsed_pattern::outcome::automaton) return run(text) ? outcome::yes : outcome::no;
  if (!library_) return outcome::bad_pattern;
  if (text.size() > longest_text_) return outcome::too_complex;
  std::uint64_t steps_left = most_steps + most_steps_per_byte * text.size();
  const counting_iterator begin(text.data(), steps_left);
  const counting_iterator end(text.data() + text.size(), steps_left);
  try {
    return std::regex_match(begin, end, *library_) ? outcome::yes : outcome::no;
  } catch (const too_many_steps&) {
    return outcome::too_complex;
  } catch (const std::regex_error&) {
    return outcome::too_complex;
  }
}

bool text_pattern::run(std::string_view text) {
  if (states_.empty()) start_over();
  std::int32_t at = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::int32_t next = states_[static_cast<std::size_t>(at)].next[byte];
    at = next >= 0 ? next : step(at, byte);
    if (at == 0) return false;
  }
  return states_[static_cast<std::size_t>(at)].accepts;
}

void text_pattern::start_round() {
  ++round_;
  reached_.clear();
}

void text_pattern::follow(std::uint32_t state, bool at_begin, bool at_end) {
  pending_.push_back(state);
  while (!pending_.empty()) {
    const std::uint32_t number = pending_.back();
    pending_.pop_back();
    if (number == pattern_automaton::none || seen_[number] == round_) continue;
    seen_[number] = round_;
    const pattern_automaton::state& here = parsed_.automaton.states[number];
    switch (here.what) {
      case pattern_automaton::kind::fork:
        pending_.push_back(here.other);
        pending_.push_back(here.next);
        break;
      case pattern_automaton::kind::text_begin:
        if (at_begin) pending_.push_back(here.next);
        break;
      case pattern_automaton::kind::text_end:
        if (at_end) pending_.push_back(here.next);
        reached_.push_back(number);
        break;
      case pattern_automaton::kind::bytes:
      case pattern_automaton::kind::accept:
        reached_.push_back(number);
        break;
    }
  }
}

bool text_pattern::reaches_accept() const {
  return std::any_of(reached_.begin(), reached_.end(), [this](std::uint32_t reached) {
    return parsed_.automaton.states[reached].what == pattern_automaton::kind::accept;
  });
}

std::int32_t text_pattern::make_state(std::vector<std::uint32_t> members) {
  std::sort(members.begin(), members.end());
  const auto [known, is_new] = known_.try_emplace(std::move(members), static_cast<std::int32_t>(states_.size()));
  if (!is_new) return known->second;
  deterministic_state& made = states_.emplace_back();
  made.members = known->first;
  made.next.fill(-1);
  kept_members_ += made.members.size();
  start_round();
  for (const std::uint32_t member : made.members) follow(member, false, true);
  made.accepts = reaches_accept();
  return known->second;
}

/// State 0 has no members: the text cannot match any more. State 1 is the start of the text, and the only state that
/// passes begin assertions.
void text_pattern::start_over() {
  states_.clear();
  known_.clear();
  kept_members_ = 0;
  make_state({});
  deterministic_state& begin = states_.emplace_back();
  begin.next.fill(-1);
  start_round();
  follow(parsed_.automaton.begin, true, true);
  begin.accepts = reaches_accept();
  start_round();
  follow(parsed_.automaton.begin, true, false);
  begin.members = reached_;
}

std::int32_t text_pattern::step(std::int32_t from, unsigned char byte) {
  std::vector<std::uint32_t> members = states_[static_cast<std::size_t>(from)].members;
  const bool kept = states_.size() < most_kept && kept_members_ < most_kept_members;
  if (!kept) start_over();
  start_round();
  for (const std::uint32_t member : members) {
    const pattern_automaton::state& here = parsed_.automaton.states[member];
    if (here.what != pattern_automaton::kind::bytes || !holds(parsed_.automaton.sets[here.bytes], byte)) continue;
    follow(here.next, false, false);
  }
  const std::int32_t next = make_state(reached_);
  if (kept) states_[static_cast<std::size_t>(from)].next[byte] = next;
  return next;
}

}  // namespace gpulog::kernels
