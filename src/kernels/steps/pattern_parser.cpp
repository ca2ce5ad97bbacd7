#include <algorithm>
#include <charconv>
#include <utility>

#include "kernels/steps/text_pattern.hpp"

namespace gpulog::kernels {

namespace {

using byte_set = pattern_automaton::byte_set;

/// Limits on stack and memory per pattern.
constexpr std::size_t deepest_group = 500;
constexpr std::size_t most_states = 50'000;

struct wrong_pattern {};
struct beyond_automata {};

void insert(byte_set& set, unsigned char byte) { set[byte / 64] |= std::uint64_t{1} << (byte % 64); }
void unite(byte_set& set, const byte_set& other) {
  for (std::size_t i = 0; i < set.size(); ++i) set[i] |= other[i];
}
byte_set complement(byte_set set) {
  for (std::uint64_t& part : set) part = ~part;
  return set;
}

template <class Predicate>
byte_set bytes_where(const Predicate& predicate) {
  byte_set set{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (predicate(byte)) insert(set, static_cast<unsigned char>(byte));
  }
  return set;
}

/// Ranges compare char, which was signed when the library was built.
int as_char(unsigned char byte) { return byte < 128 ? byte : byte - 256; }

bool is_digit(unsigned c) { return c >= '0' && c <= '9'; }
bool is_lower(unsigned c) { return c >= 'a' && c <= 'z'; }
bool is_upper(unsigned c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(unsigned c) { return is_lower(c) || is_upper(c); }
bool is_space(unsigned c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_graphic(unsigned c) { return c > ' ' && c < 0x7f; }

/// \d, \w, \s and their complements.
std::optional<byte_set> class_of_escape(char c) {
  switch (c) {
    case 'd':
      return bytes_where(is_digit);
    case 'D':
      return complement(bytes_where(is_digit));
    case 's':
      return bytes_where(is_space);
    case 'S':
      return complement(bytes_where(is_space));
    case 'w':
      return bytes_where([](unsigned b) { return is_letter(b) || is_digit(b) || b == '_'; });
    case 'W':
      return complement(bytes_where([](unsigned b) { return is_letter(b) || is_digit(b) || b == '_'; }));
    default:
      return std::nullopt;
  }
}

/// [:alpha:] and so on, as in the "C" locale.
byte_set class_of_name(std::string_view name) {
  if (name == "alpha") return bytes_where(is_letter);
  if (name == "digit" || name == "d") return bytes_where(is_digit);
  if (name == "alnum") return bytes_where([](unsigned c) { return is_letter(c) || is_digit(c); });
  if (name == "upper") return bytes_where(is_upper);
  if (name == "lower") return bytes_where(is_lower);
  if (name == "space" || name == "s") return bytes_where(is_space);
  if (name == "blank") return bytes_where([](unsigned c) { return c == ' ' || c == '\t'; });
  if (name == "cntrl") return bytes_where([](unsigned c) { return c < ' ' || c == 0x7f; });
  if (name == "graph") return bytes_where(is_graphic);
  if (name == "print") return bytes_where([](unsigned c) { return is_graphic(c) || c == ' '; });
  if (name == "punct") return bytes_where([](unsigned c) { return is_graphic(c) && !is_letter(c) && !is_digit(c); });
  if (name == "xdigit") {
    return bytes_where([](unsigned c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
  }
  throw beyond_automata();
}

/// Returns the byte that \c stands for; throws for escapes that an automaton does not support.
unsigned char byte_of_escape(char c, bool in_brackets) {
  switch (c) {
    case '0':
      return '\0';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case 'b':
      if (in_brackets) return '\b';
      throw beyond_automata();
    case 'B':
    case 'c':
    case 'x':
    case 'u':
      throw beyond_automata();
    default:
      if (is_digit(static_cast<unsigned char>(c))) throw beyond_automata();
      return static_cast<unsigned char>(c);
  }
}

class pattern_parser {
 public:
  explicit pattern_parser(std::string_view text) : text_(text) {}

  pattern_automaton run() {
    const piece whole = alternatives(0);
    if (!at_end()) throw wrong_pattern();  // an unmatched ')', or a quantifier without an operand
    const std::uint32_t accept = add({pattern_automaton::kind::accept, 0, none, none});
    link(whole, accept);
    made_.begin = whole.begin;
    return std::move(made_);
  }

 private:
  using state = pattern_automaton::state;
  static constexpr std::uint32_t none = pattern_automaton::none;

  /// A part of the automaton: its first state, and a fork whose successor is still open.
  struct piece {
    std::uint32_t begin;
    std::uint32_t end;
  };

  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] bool at(char c) const { return !at_end() && text_[position_] == c; }
  bool accept(char c) {
    if (!at(c)) return false;
    ++position_;
    return true;
  }
  char take() {
    if (at_end()) throw wrong_pattern();
    return text_[position_++];
  }

  std::uint32_t add(state made) {
    if (made_.states.size() >= most_states) throw wrong_pattern();
    made_.states.push_back(made);
    return static_cast<std::uint32_t>(made_.states.size() - 1);
  }
  std::uint32_t fork() { return add({pattern_automaton::kind::fork, 0, none, none}); }
  void link(const piece& from, std::uint32_t to) { made_.states[from.end].next = to; }
  piece single(state made) {
    const std::uint32_t end = fork();
    made.next = end;
    return {add(made), end};
  }
  piece of_set(const byte_set& set) {
    made_.sets.push_back(set);
    return single({pattern_automaton::kind::bytes, static_cast<std::uint32_t>(made_.sets.size() - 1), none, none});
  }
  piece empty() {
    const std::uint32_t only = fork();
    return {only, only};
  }

  piece alternatives(std::size_t depth) {
    if (depth > deepest_group) throw wrong_pattern();
    piece result = sequence(depth);
    while (accept('|')) {
      const piece other = sequence(depth);
      const std::uint32_t begin = add({pattern_automaton::kind::fork, 0, result.begin, other.begin});
      const std::uint32_t end = fork();
      link(result, end);
      link(other, end);
      result = {begin, end};
    }
    return result;
  }

  piece sequence(std::size_t depth) {
    piece result = empty();
    while (!at_end() && !at('|') && !at(')')) {
      const piece next = term(depth);
      link(result, next.begin);
      result.end = next.end;
    }
    return result;
  }

  piece term(std::size_t depth) {
    if (accept('^')) return single({pattern_automaton::kind::text_begin, 0, none, none});
    if (accept('$')) return single({pattern_automaton::kind::text_end, 0, none, none});
    const std::size_t begin = position_;
    piece result = atom(depth);
    const std::size_t end = position_;
    // Applies all adjacent quantifiers: `a{2}*` repeats `a{2}`. Greediness does not affect whether the whole text
    // matches, so lazy quantifiers are treated as greedy.
    bool repeated = false;
    while (!at_end()) {
      if (accept('*')) {
        result = any_number(result);
      } else if (accept('+')) {
        result = at_least_once(result);
      } else if (accept('?')) {
        result = optional(result);
      } else if (at('{')) {
        // Copies of an atom are parsed again from its text.
        if (repeated) throw beyond_automata();
        result = counted(result, begin, end, depth);
      } else {
        break;
      }
      repeated = true;
      accept('?');
    }
    return result;
  }

  piece any_number(const piece& inner) {
    const std::uint32_t end = fork();
    const std::uint32_t begin = add({pattern_automaton::kind::fork, 0, inner.begin, end});
    link(inner, begin);
    return {begin, end};
  }
  piece at_least_once(const piece& inner) {
    const std::uint32_t end = fork();
    const std::uint32_t again = add({pattern_automaton::kind::fork, 0, inner.begin, end});
    link(inner, again);
    return {inner.begin, end};
  }
  piece optional(const piece& inner) {
    const std::uint32_t end = fork();
    const std::uint32_t begin = add({pattern_automaton::kind::fork, 0, inner.begin, end});
    link(inner, end);
    return {begin, end};
  }

  std::size_t number() {
    std::size_t value = 0;
    const auto [rest, fault] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (fault != std::errc()) throw wrong_pattern();
    position_ = static_cast<std::size_t>(rest - text_.data());
    return value;
  }

  /// `first` is one copy of the atom at [begin, end).
  piece counted(const piece& first, std::size_t begin, std::size_t end, std::size_t depth) {
    take();
    const std::size_t least = number();
    std::size_t most = least;
    bool is_bounded = true;
    if (accept(',')) {
      is_bounded = !at('}');
      if (is_bounded) most = number();
    }
    if (take() != '}' || most < least) throw wrong_pattern();
    const std::size_t behind = position_;
    bool first_is_free = true;
    const auto copy = [&]() -> piece {
      if (std::exchange(first_is_free, false)) return first;
      position_ = begin;
      const piece made = atom(depth);
      if (position_ != end) throw beyond_automata();
      return made;
    };
    piece result = empty();
    const auto append = [&](const piece& next) {
      link(result, next.begin);
      result.end = next.end;
    };
    for (std::size_t i = 0; i < least; ++i) append(copy());
    if (!is_bounded) append(any_number(copy()));
    for (std::size_t i = least; i < most; ++i) append(optional(copy()));
    position_ = behind;
    return result;
  }

  piece atom(std::size_t depth) {
    const char c = take();
    switch (c) {
      case '.':
        return of_set(bytes_where([](unsigned b) { return b != '\n' && b != '\r'; }));
      case '(': {
        if (accept('?') && !accept(':')) throw beyond_automata();
        const piece inner = alternatives(depth + 1);
        if (!accept(')')) throw wrong_pattern();
        return inner;
      }
      case '[':
        return of_set(brackets());
      case '\\': {
        const char escaped = take();
        if (const auto set = class_of_escape(escaped)) return of_set(*set);
        return of_byte(byte_of_escape(escaped, false));
      }
      case '*':
      case '+':
      case '?':
      case '{':
        throw wrong_pattern();
      default:
        return of_byte(static_cast<unsigned char>(c));
    }
  }

  piece of_byte(unsigned char byte) {
    byte_set set{};
    insert(set, byte);
    return of_set(set);
  }

  byte_set brackets() {
    const bool negated = accept('^');
    byte_set set{};
    unsigned char last = 0;
    bool may_begin_range = false;  // whether `last` may start a range
    while (!accept(']')) {
      if (at_end()) throw wrong_pattern();
      if (at('-') && may_begin_range && position_ + 1 < text_.size() && text_[position_ + 1] != ']') {
        take();
        // Bounds that are classes, and misplaced dashes, are rare and differ among libraries.
        if (at('-') || at('[')) throw beyond_automata();
        const unsigned char to = bound();
        const int low = as_char(last);
        const int high = as_char(to);
        if (low > high) throw wrong_pattern();
        for (int byte = low; byte <= high; ++byte) insert(set, static_cast<unsigned char>(byte));
        may_begin_range = false;
        if (at('-') && position_ + 1 < text_.size() && text_[position_ + 1] != ']') throw beyond_automata();
        continue;
      }
      may_begin_range = false;
      if (at('[')) {
        const char kind = position_ + 1 < text_.size() ? text_[position_ + 1] : ' ';
        if (kind == '.' || kind == '=') throw beyond_automata();
        if (kind == ':') {
          const std::size_t end = text_.find(":]", position_ + 2);
          if (end == std::string_view::npos) throw wrong_pattern();
          unite(set, class_of_name(text_.substr(position_ + 2, end - position_ - 2)));
          position_ = end + 2;
          if (at('-')) throw beyond_automata();
          continue;
        }
      }
      if (at('\\') && position_ + 1 < text_.size()) {
        if (const auto named = class_of_escape(text_[position_ + 1])) {
          unite(set, *named);
          position_ += 2;
          if (at('-')) throw beyond_automata();
          continue;
        }
      }
      last = bound();
      may_begin_range = true;
      insert(set, last);
    }
    return negated ? complement(set) : set;
  }

  /// A literal or escaped byte.
  unsigned char bound() {
    const char c = take();
    if (c != '\\') return static_cast<unsigned char>(c);
    const char escaped = take();
    if (class_of_escape(escaped)) throw beyond_automata();
    return byte_of_escape(escaped, true);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  pattern_automaton made_;
};

/// Returns whether the library may handle the pattern: std::regex recurses over a pattern, too.
bool is_tame(std::string_view pattern) {
  constexpr std::size_t longest = 1000;
  constexpr std::ptrdiff_t most_groups = 100;
  return pattern.size() <= longest && std::count(pattern.begin(), pattern.end(), '(') <= most_groups;
}

}  // namespace

parsed_pattern parse_pattern(std::string_view pattern) {
  parsed_pattern result;
  try {
    result.automaton = pattern_parser(pattern).run();
    result.what = parsed_pattern::outcome::automaton;
  } catch (const wrong_pattern&) {
    result.what = parsed_pattern::outcome::wrong;
  } catch (const beyond_automata&) {
    result.what = is_tame(pattern) ? parsed_pattern::outcome::left_to_library : parsed_pattern::outcome::wrong;
  }
  return result;
}

}  // namespace gpulog::kernels
