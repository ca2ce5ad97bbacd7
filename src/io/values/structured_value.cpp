#include "io/values/structured_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

bool is_name(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         byte == '?' || byte == '.';
}

/// Iterative: a list may have millions of records.
class structured_parser {
 public:
  structured_parser(std::string_view text, const structured_columns& columns, storage::symbol_table& symbols)
      : text_(text), columns_(columns), symbols_(symbols) {}

  std::optional<word> parse(const value_type& type) {
    value_type wanted = type;
    for (;;) {
      std::optional<word> value = begin(wanted);
      if (failed_) return std::nullopt;
      while (!open_.empty()) {
        open_value& innermost = open_.back();
        if (value) innermost.values.push_back(*value);
        value.reset();
        if (innermost.values.size() < innermost.fields->size()) break;
        if (!take(innermost.closing)) return std::nullopt;
        value = finish(innermost);
        open_.pop_back();
      }
      if (open_.empty()) {
        skip_blanks();
        return at_ == text_.size() ? value : std::nullopt;
      }
      const open_value& innermost = open_.back();
      if (!innermost.values.empty() && !take(',')) return std::nullopt;
      wanted = (*innermost.fields)[innermost.values.size()].type;
    }
  }

 private:
  struct open_value {
    const std::vector<field_type>* fields;
    std::vector<word> values;
    char closing;
    std::optional<word> branch;
  };

  std::nullopt_t fail() {
    failed_ = true;
    return std::nullopt;
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  std::string_view take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// Returns a whole value; nothing: a value with fields was opened, or failed_ is set.
  std::optional<word> begin(const value_type& type) {
    skip_blanks();
    switch (type.kind) {
      case value_kind::symbol:
        return parse_symbol();
      case value_kind::record:
        return begin_record(type);
      case value_kind::adt:
        return begin_branch(type);
      default:
        break;
    }
    word value = 0;
    if (!parse_value(take_plain_text(), type.kind, columns_.wide, value)) return fail();
    return value;
  }

  [[nodiscard]] bool at_end_of_text(char byte) const {
    return byte == ',' || (!open_.empty() && byte == open_.back().closing);
  }

  std::string_view take_plain_text() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !at_end_of_text(text_[at_])) ++at_;
    std::size_t end = at_;
    while (end > begin && is_space(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }

  std::optional<word> parse_symbol() {
    if (at_ == text_.size() || text_[at_] != '"') return symbols_.intern(take_plain_text());
    std::string unquoted;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escaped) ++at_;
      unquoted += text_[at_];
    }
    if (at_ == text_.size()) return fail();
    ++at_;
    return symbols_.intern(unquoted);
  }

  std::optional<word> begin_record(const value_type& type) {
    constexpr std::string_view nil = "nil";
    if (text_.substr(at_).starts_with(nil)) {
      at_ += nil.size();
      return storage::nil_record;
    }
    if (!take('[')) return fail();
    open_.push_back({&(*columns_.types)[type.structure.value].fields, {}, ']', {}});
    return std::nullopt;
  }

  std::optional<word> begin_branch(const value_type& type) {
    if (!take('$')) return fail();
    const std::string_view name = take_name();
    const structure_type& structure = (*columns_.types)[type.structure.value];
    const auto found =
        std::lower_bound(structure.branches.begin(), structure.branches.end(), name,
                         [](const branch_type& branch, std::string_view wanted) { return branch.name < wanted; });
    if (found == structure.branches.end() || found->name != name) return fail();
    const auto number = static_cast<word>(found - structure.branches.begin());
    if (found->fields.empty()) {
      if (take('(') && !take(')')) return fail();
      return structure.is_enumeration() ? number : tagged(number, record_without_fields);
    }
    if (!take('(')) return fail();
    open_.push_back({&found->fields, {}, ')', number});
    return std::nullopt;
  }

  word finish(const open_value& closed) {
    if (closed.branch && closed.values.size() == 1) return tagged(*closed.branch, closed.values.front());
    const auto arity = static_cast<std::uint32_t>(closed.values.size());
    const word record = (*columns_.records)[arity].intern(closed.values.data());
    return closed.branch ? tagged(*closed.branch, record) : record;
  }

  word tagged(word branch, word payload) {
    const word fields[] = {branch, payload};
    return (*columns_.records)[2].intern(fields);
  }

  std::string_view text_;
  const structured_columns& columns_;
  storage::symbol_table& symbols_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::vector<open_value> open_;
};

}  // namespace

bool parse_structured(std::string_view text, const value_type& type, const structured_columns& columns,
                      storage::symbol_table& symbols, word& value) {
  const std::optional<word> parsed = structured_parser(text, columns, symbols).parse(type);
  value = parsed.value_or(0);
  return parsed.has_value();
}

void limit_value_text(const byte_buffer& text, std::size_t begin) {
  if (text.size() - begin <= longest_value_text) return;
  throw user_error(fmt::format("The text of a value has more than {} bytes (what records share is written each time)",
                               longest_value_text));
}

void structured_printer::print(word value, const value_type& type) {
  const std::size_t first = text_.size();
  open_.resize(0);
  begin(value, type);
  while (open_.size() > 0) {
    open_value& innermost = open_[open_.size() - 1];
    if (innermost.next == innermost.fields->size()) {
      text_.append(innermost.closing);
      open_.resize(open_.size() - 1);
      continue;
    }
    if (innermost.next > 0) text_.append(", ");
    const std::size_t field = innermost.next++;
    begin(innermost.values[field], (*innermost.fields)[field].type);
    limit_value_text(text_, first);
  }
}

void structured_printer::begin(word value, const value_type& type) {
  switch (type.kind) {
    case value_kind::symbol:
      return append_symbol(symbols_.text(value));
    case value_kind::record:
      return begin_record(value, (*columns_.types)[type.structure.value]);
    case value_kind::adt:
      return begin_branch(value, (*columns_.types)[type.structure.value]);
    default:
      text_.advance_to(print_value(text_.reserve(longest_number), value, type.kind, columns_.wide));
  }
}

void structured_printer::append_symbol(std::string_view symbol) {
  if (!quoted_symbols_) return text_.append(symbol);
  text_.append('"');
  for (const char byte : symbol) {
    if (byte == '"' || byte == '\\') text_.append('\\');
    text_.append(byte);
  }
  text_.append('"');
}

void structured_printer::begin_record(word value, const structure_type& structure) {
  const word* const fields = fields_of(value, structure.fields.size());
  if (fields == nullptr) return text_.append("nil");
  text_.append('[');
  open_.push_back({&structure.fields, fields, 0, ']'});
}

void structured_printer::begin_branch(word value, const structure_type& structure) {
  const word* const tagged = structure.is_enumeration() ? nullptr : fields_of(value, 2);
  const bool is_value = structure.is_enumeration() || tagged != nullptr;
  const word number = tagged == nullptr ? value : tagged[0];
  if (!is_value || number >= structure.branches.size()) {
    return text_.append("$?");  // a word from a cast by as()
  }
  const branch_type& branch = structure.branches[number];
  text_.append('$');
  text_.append(branch.name);
  if (branch.fields.empty() || tagged == nullptr) return;
  const word* const fields = branch.fields.size() == 1 ? tagged + 1 : fields_of(tagged[1], branch.fields.size());
  if (fields == nullptr) return;
  text_.append('(');
  open_.push_back({&branch.fields, fields, 0, ')'});
}

/// Returns nullptr for an unknown record.
const word* structured_printer::fields_of(word record, std::size_t arity) const {
  const storage::record_table& table = (*columns_.records)[static_cast<std::uint32_t>(arity)];
  return table.has(record) ? table.fields(record) : nullptr;
}

}  // namespace gpulog::io
