#include "syntax/format/items.hpp"

#include <algorithm>

namespace gpulog::syntax {

namespace {

/// Deeper brackets stay as they are, so that recursion over brackets is safe.
constexpr std::size_t max_format_depth = 500;

token_kind closing_of(token_kind open) {
  using enum token_kind;
  return open == left_parenthesis ? right_parenthesis : open == left_bracket ? right_bracket : right_brace;
}

class item_splitter {
  using enum token_kind;

 public:
  explicit item_splitter(const format_pieces& pieces) : pieces_(pieces) {}

  std::vector<format_item> run() {
    std::vector<format_item> result;
    while (kind(at_) != end_of_file) result.push_back(next());
    return result;
  }

 private:
  [[nodiscard]] token_kind kind(std::size_t token) const { return pieces_.kind(token); }
  [[nodiscard]] bool is_on_new_line(std::size_t token) const { return pieces_.tokens[token].is_on_new_line; }

  format_item next() {
    format_item result;
    result.begin = at_;
    open_.clear();
    is_balanced_ = true;
    if (kind(at_) == right_brace) {
      result.what = format_item::kind::block_close;
      ++at_;
    } else if (begins_annotation(at_)) {
      result.what = format_item::kind::annotation;
      annotation();
    } else if (is_directive(kind(at_))) {
      result.what = format_item::kind::declaration;
      declaration(result);
    } else {
      clause(result);
    }
    result.end = at_;
    result.stays = result.what != format_item::kind::block_close && !is_understood(result);
    return result;
  }

  [[nodiscard]] bool begins_annotation(std::size_t token) const {
    return kind(token) == at_not || (kind(token) == at && kind(token + 1) == left_bracket);
  }

  /// Takes the current token.
  void take() {
    const token_kind taken = kind(at_++);
    if (is_opening_bracket(taken)) {
      open_.push_back(closing_of(taken));
      if (open_.size() > max_format_depth) is_balanced_ = false;
    } else if (is_closing_bracket(taken)) {
      if (open_.empty() || open_.back() != taken) is_balanced_ = false;
      if (!open_.empty()) open_.pop_back();
    }
  }

  void annotation() {
    take();  // `@` or `@!`
    if (kind(at_) == left_bracket) take();
    while (!open_.empty() && kind(at_) != end_of_file) take();
  }

  /// Whether a declaration goes on after this token.
  static bool continues_after(token_kind kind) {
    switch (kind) {
      case comma:
      case equals:
      case pipe:
      case subtype:
      case colon:
      case dot:
      case less:
      case maps_to:
      case word_choice_domain:
        return true;
      default:
        return is_directive(kind);
    }
  }

  void declaration(format_item& item) {
    const bool is_component = kind(at_) == directive_comp;
    take();
    while (kind(at_) != end_of_file && !is_directive(kind(at_))) {
      if (open_.empty()) {
        if (is_component && kind(at_) == left_brace) {
          ++at_;
          item.what = format_item::kind::block_open;
          return;
        }
        if (kind(at_) == right_brace || begins_next_item()) return;
      }
      take();
    }
  }

  /// Whether the current token, outside brackets of a declaration, begins an item.
  [[nodiscard]] bool begins_next_item() const {
    if (continues_after(kind(at_ - 1))) return false;
    if (begins_annotation(at_)) return true;
    return kind(at_) == identifier &&
           (is_on_new_line(at_) || kind(at_ + 1) == left_parenthesis || kind(at_ + 1) == dot);
  }

  void clause(format_item& item) {
    while (kind(at_) != end_of_file) {
      const token_kind here = kind(at_);
      if (is_directive(here)) return;
      if (open_.empty() && at_ > item.begin) {
        if (here == right_brace) return;
        const token_kind before = kind(at_ - 1);
        if (here == identifier && is_on_new_line(at_) && (before == identifier || before == right_parenthesis)) return;
        if (here == if_ && item.body == format_item::none) item.body = at_;
        if (here == dot && !is_in_name(item)) {
          take();
          item.ends_in_dot = true;
          if (kind(at_) == directive_plan) plan(item);
          return;
        }
      }
      take();
    }
  }

  /// Whether the current dot, outside brackets of a clause, joins two names.
  [[nodiscard]] bool is_in_name(const format_item& item) const {
    if (kind(at_ - 1) != identifier || kind(at_ + 1) != identifier || is_on_new_line(at_ + 1)) return false;
    std::size_t first = at_ - 1;
    while (first > item.begin + 1 && kind(first - 1) == dot && kind(first - 2) == identifier) first -= 2;
    if (first == item.begin) return true;
    switch (kind(first - 1)) {
      case dollar:
        return pieces_.tokens[at_].end == pieces_.tokens[at_ + 1].begin;
      case comma:
      case semicolon:
      case if_:
      case exclamation:
      case colon:
        return true;
      case less_equal:
        return item.body == format_item::none;
      default:
        return false;
    }
  }

  void plan(format_item& item) {
    item.plan = at_;
    const auto is_part = [](token_kind kind) {
      return kind == number || kind == colon || kind == comma || kind == left_parenthesis || kind == right_parenthesis;
    };
    do {
      take();
    } while (is_part(kind(at_)));
  }

  [[nodiscard]] bool is_understood(const format_item& item) const {
    if (!is_balanced_ || !open_.empty() || item.what == format_item::kind::annotation) return false;
    for (std::size_t index = item.begin; index < item.end; ++index) {
      const format_token& token = pieces_.tokens[index];
      if (token.kind == invalid || token.has_several_lines || begins_annotation(index)) return false;
      if (index > item.begin && pieces_.has_directive(token)) return false;
    }
    return true;
  }

  const format_pieces& pieces_;
  std::size_t at_ = 0;
  std::vector<token_kind> open_;  ///< the closing brackets of open brackets
  bool is_balanced_ = true;
};

}  // namespace

std::vector<format_item> items_of(const format_pieces& pieces) { return item_splitter(pieces).run(); }

}  // namespace gpulog::syntax
