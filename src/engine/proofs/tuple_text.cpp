#include "engine/proofs/tuple_text.hpp"

#include <fmt/core.h>

#include "engine/declarations.hpp"
#include "engine/run_context.hpp"
#include "io/values/structured_value.hpp"
#include "sema/types/types.hpp"

namespace gpulog::detail {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::string_view without_dot(std::string_view text) {
  const std::string_view whole = without_blanks(text);
  return whole.ends_with('.') ? without_blanks(whole.substr(0, whole.size() - 1)) : whole;
}

/// Splits the text at commas outside quotes and brackets.
std::vector<std::string_view> arguments_in(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (is_quoted) {
      if (byte == '\\') ++at;
      if (byte == '"') is_quoted = false;
    } else if (byte == '"') {
      is_quoted = true;
    } else if (byte == '[' || byte == '(') {
      ++depth;
    } else if (byte == ']' || byte == ')') {
      --depth;
    } else if (byte == ',' && depth == 0) {
      parts.push_back(without_blanks(text.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  const std::string_view last = without_blanks(text.substr(begin));
  if (!parts.empty() || !last.empty()) parts.push_back(last);
  return parts;
}

}  // namespace

std::string value_text(const run_context& context, word value, const value_type& type) {
  const io::structured_columns columns = context.structured();
  io::byte_buffer text;
  io::structured_printer(text, columns, true, context.values.symbols).print(value, type);
  return std::string(text.bytes());
}

std::optional<word> value_from_text(run_context& context, std::string_view text, const value_type& type) {
  word value = 0;
  if (!io::parse_structured(text, type, context.structured(), context.values.symbols, value)) return std::nullopt;
  return value;
}

std::string tuple_text(const run_context& context, relation_id relation, std::span<const word> words) {
  const sema::relation& declared = context.analysed()[relation];
  std::string text = declared.name + "(";
  for (std::size_t column = 0; column < words.size(); ++column) {
    const sema::attribute& attribute = declared.attributes[column];
    if (column > 0) text += ", ";
    text += value_text(context, words[column], {attribute.kind, attribute.structure});
  }
  return text + ")";
}

std::vector<std::string_view> parts_of_tuple(std::string_view text) { return arguments_in(without_dot(text)); }

written_tuple written_tuple_of(run_context& context, std::string_view text) {
  const std::string_view whole = without_dot(text);
  const std::size_t open = whole.find('(');
  if (open == std::string_view::npos || !whole.ends_with(')')) {
    throw input_error(fmt::format("'{}' is no tuple, as reach(1, \"b\") is", text));
  }
  const relation_id relation = relation_named(without_blanks(whole.substr(0, open)), context.analysed());
  const sema::relation& declared = context.analysed()[relation];
  written_tuple written{relation, arguments_in(whole.substr(open + 1, whole.size() - open - 2))};
  if (written.values.size() != declared.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, but '{}' gives {} values", declared.name,
                                  declared.attributes.size(), whole, written.values.size()));
  }
  return written;
}

word value_of_attribute(run_context& context, std::string_view text, const sema::relation& declared,
                        std::size_t column) {
  const sema::attribute& attribute = declared.attributes[column];
  const auto value = value_from_text(context, text, {attribute.kind, attribute.structure});
  if (value) return *value;
  throw input_error(fmt::format("'{}' is no value of attribute {} of relation {}, which is of type {}", text,
                                attribute.name, declared.name, sema::kind_name(attribute.kind)));
}

std::pair<relation_id, std::vector<word>> tuple_from_text(run_context& context, std::string_view text) {
  const written_tuple written = written_tuple_of(context, text);
  const sema::relation& declared = context.analysed()[written.relation];
  std::vector<word> words;
  for (std::size_t column = 0; column < written.values.size(); ++column)
    words.push_back(value_of_attribute(context, written.values[column], declared, column));
  return {written.relation, std::move(words)};
}

}  // namespace gpulog::detail
