#include "gpulog/relation.hpp"

#include <fmt/core.h>

#include <bit>

#include "engine/engine_state.hpp"
#include "gpulog/error.hpp"
#include "io/number_text.hpp"
#include "io/structured_value.hpp"

namespace gpulog {
namespace {

const sema::relation& declaration_of(const detail::engine_state* engine, std::uint32_t relation) {
  return engine->analysed().relations[relation];
}

std::string_view type_name(value_kind kind) {
  switch (kind) {
    case value_kind::number:
      return "number";
    case value_kind::unsigned_number:
      return "unsigned";
    case value_kind::floating:
      return "float";
    case value_kind::symbol:
      return "symbol";
    case value_kind::record:
      return "record";
    case value_kind::adt:
      return "adt";
  }
  return "";
}

/// The word that stores a value; nothing when the value does not fit the type.
std::optional<word> word_of(const value& given, value_kind kind, storage::symbol_table& symbols) {
  if (const auto* number = std::get_if<std::int32_t>(&given); number != nullptr && kind == value_kind::number) {
    return std::bit_cast<word>(*number);
  }
  if (const auto* number = std::get_if<std::uint32_t>(&given);
      number != nullptr && kind == value_kind::unsigned_number) {
    return *number;
  }
  if (const auto* number = std::get_if<float>(&given); number != nullptr && kind == value_kind::floating) {
    return std::bit_cast<word>(*number + 0.0F);  // -0 and 0 are one value of a relation
  }
  if (const auto* text = std::get_if<std::string>(&given); text != nullptr && kind == value_kind::symbol) {
    return symbols.intern(*text);
  }
  return std::nullopt;
}

template <class Number>
std::string number_text(Number number) {
  char text[io::longest_number];
  return {text, io::print_number(text, number)};
}

}  // namespace

std::size_t tuple::size() const { return declaration_of(engine_, relation_).attributes.size(); }

std::uint32_t tuple::word(std::size_t column) const {
  const sema::relation& relation = declaration_of(engine_, relation_);
  if (column >= relation.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, and no number {}", relation.name,
                                  relation.attributes.size(), column));
  }
  return engine_->at(relation_, row_, column);
}

std::int32_t tuple::number(std::size_t column) const { return std::bit_cast<std::int32_t>(word(column)); }

std::uint32_t tuple::unsigned_number(std::size_t column) const { return word(column); }

float tuple::floating(std::size_t column) const { return std::bit_cast<float>(word(column)); }

std::string_view tuple::symbol(std::size_t column) const {
  const std::uint32_t id = word(column);
  if (declaration_of(engine_, relation_).attributes[column].kind != value_kind::symbol) {
    throw input_error(
        fmt::format("attribute {} of relation {} is no symbol", column, declaration_of(engine_, relation_).name));
  }
  return engine_->symbols.text(id);
}

std::string tuple::text(std::size_t column) const {
  const std::uint32_t stored = word(column);
  switch (declaration_of(engine_, relation_).attributes[column].kind) {
    case value_kind::number:
      return number_text(std::bit_cast<std::int32_t>(stored));
    case value_kind::floating:
      return number_text(std::bit_cast<float>(stored));
    case value_kind::symbol:
      return std::string(engine_->symbols.text(stored));
    case value_kind::record:
    case value_kind::adt: {
      const sema::attribute& attribute = declaration_of(engine_, relation_).attributes[column];
      io::structured_columns columns;
      columns.types = &engine_->analysed().structures;
      columns.records = &engine_->records;
      std::string structured;
      io::append_structured(structured, stored, {attribute.kind, attribute.structure}, columns, false,
                            engine_->symbols);
      return structured;
    }
    case value_kind::unsigned_number:
      break;
  }
  return number_text(stored);
}

const std::string& relation::name() const { return declaration_of(engine_, relation_).name; }

std::size_t relation::arity() const { return declaration_of(engine_, relation_).attributes.size(); }

std::vector<attribute> relation::attributes() const {
  std::vector<attribute> result;
  for (const sema::attribute& declared : declaration_of(engine_, relation_).attributes) {
    result.push_back({declared.name, std::string(type_name(declared.kind))});
  }
  return result;
}

std::uint64_t relation::size() const { return engine_->rows(relation_); }

void relation::insert(std::span<const value> values) {
  const sema::relation& declared = declaration_of(engine_, relation_);
  if (engine_->done != detail::engine_state::step::loading) {
    throw input_error("relation " + declared.name + " cannot be changed after the program was evaluated");
  }
  if (values.size() != declared.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} values were given", declared.name,
                                  declared.attributes.size(), values.size()));
  }
  std::vector<gpulog::word> words;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto stored = word_of(values[c], declared.attributes[c].kind, engine_->symbols);
    if (!stored) {
      throw input_error(fmt::format("attribute {} of relation {} is of type {}", declared.attributes[c].name,
                                    declared.name, type_name(declared.attributes[c].kind)));
    }
    words.push_back(*stored);
  }
  auto& blocks = engine_->staged[relation_];
  if (blocks.empty()) {
    detail::staged_rows& first = blocks.emplace_back();
    for (std::size_t c = 0; c < values.size(); ++c) first.columns.emplace_back(engine_->memory);
  }
  detail::staged_rows& block = blocks.back();
  for (std::size_t c = 0; c < words.size(); ++c) block.columns[c].push_back(words[c]);
  ++block.rows;
}

}  // namespace gpulog
