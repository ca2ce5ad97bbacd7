#include "gpulog/relation.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <optional>

#include "engine/declarations.hpp"
#include "engine/engine_state.hpp"
#include "engine/value_bits.hpp"
#include "gpulog/error.hpp"
#include "io/structured_value.hpp"
#include "sema/types/types.hpp"

namespace gpulog {
namespace {

const sema::relation& declaration_of(const detail::engine_state* engine, std::uint32_t relation) {
  return engine->analysed().relations[relation];
}

/// The word that stores a value of the type.
word word_of(const value& given, value_kind kind, detail::engine_state& engine) {
  if (const auto* text = std::get_if<std::string>(&given)) return engine.symbols.intern(*text);
  return storage::word_of(std::visit(detail::bits_of_value(kind, engine.wide.has_value()), given).value(),
                          engine.wide_or_none());
}

/// The word that stores it, if the program has it: else no relation does.
std::optional<word> known_word_of(const value& given, value_kind kind, const detail::engine_state& engine) {
  if (const auto* text = std::get_if<std::string>(&given)) return engine.symbols.find(*text);
  const auto bits = std::visit(detail::bits_of_value(kind, engine.wide.has_value()), given);
  if (!bits || !engine.wide) return bits ? std::optional(static_cast<word>(*bits)) : std::nullopt;
  const word code = engine.wide->known_code(*bits);
  return code == storage::wide_values::no_code ? std::nullopt : std::optional(code);
}

/// Whether the value is one of the type, whatever the relation has.
bool fits(const value& given, value_kind kind, const detail::engine_state& engine) {
  if (std::holds_alternative<std::string>(given)) return kind == value_kind::symbol;
  return std::visit(detail::bits_of_value(kind, engine.wide.has_value()), given).has_value();
}

/// @throws input_error unless there is a value of its type for each attribute
void require_fitting(std::span<const value> values, const sema::relation& declared,
                     const detail::engine_state& engine) {
  if (values.size() != declared.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} values were given", declared.name,
                                  declared.attributes.size(), values.size()));
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    const sema::attribute& attribute = declared.attributes[c];
    if (!fits(values[c], attribute.kind, engine)) {
      throw input_error(fmt::format("attribute {} of relation {} is of type {}", attribute.name, declared.name,
                                    sema::kind_name(attribute.kind)));
    }
  }
}

/// The row with these values, if the program has all of them.
std::optional<std::vector<word>> known_words_of(std::span<const value> values, const sema::relation& declared,
                                                const detail::engine_state& engine) {
  std::vector<word> words;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto known = known_word_of(values[c], declared.attributes[c].kind, engine);
    if (!known) return std::nullopt;
    words.push_back(*known);
  }
  return words;
}

input_error too_wide(std::size_t column, const std::string& relation) {
  return input_error(fmt::format("attribute {} of relation {} holds a value that 32 bits cannot: words have 64 bits",
                                 column, relation));
}

}  // namespace

std::size_t tuple::size() const { return declaration_of(engine_, relation_).attributes.size(); }

/// As the engine has it.
std::uint32_t tuple::stored_word(std::size_t column) const {
  const sema::relation& relation = declaration_of(engine_, relation_);
  if (column >= relation.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, and no number {}", relation.name,
                                  relation.attributes.size(), column));
  }
  return engine_->at(relation_, row_, column);
}

std::uint64_t tuple::word64(std::size_t column) const {
  return storage::value_of(stored_word(column), engine_->wide_or_none());
}

std::int64_t tuple::number64(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  return engine_->wide ? std::bit_cast<std::int64_t>(bits) : static_cast<std::int32_t>(bits);
}

std::uint64_t tuple::unsigned_number64(std::size_t column) const { return word64(column); }

double tuple::floating64(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  if (engine_->wide) return std::bit_cast<double>(bits);
  return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
}

std::uint32_t tuple::word(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  if (bits > UINT32_MAX) throw too_wide(column, declaration_of(engine_, relation_).name);
  return static_cast<std::uint32_t>(bits);
}

std::int32_t tuple::number(std::size_t column) const {
  const std::int64_t wide = number64(column);
  const auto number = static_cast<std::int32_t>(wide);
  if (number != wide) throw too_wide(column, declaration_of(engine_, relation_).name);
  return number;
}

std::uint32_t tuple::unsigned_number(std::size_t column) const { return word(column); }

float tuple::floating(std::size_t column) const {
  const double wide = floating64(column);
  const auto number = static_cast<float>(wide);
  if (!std::isnan(wide) && double{number} != wide) throw too_wide(column, declaration_of(engine_, relation_).name);
  return number;
}

std::string_view tuple::symbol(std::size_t column) const {
  const std::uint32_t id = stored_word(column);
  if (declaration_of(engine_, relation_).attributes[column].kind != value_kind::symbol) {
    throw input_error(
        fmt::format("attribute {} of relation {} is no symbol", column, declaration_of(engine_, relation_).name));
  }
  return engine_->symbols.text(id);
}

std::string tuple::text(std::size_t column) const {
  const std::uint32_t stored = stored_word(column);
  const sema::attribute& attribute = declaration_of(engine_, relation_).attributes[column];
  if (attribute.kind == value_kind::symbol) return std::string(engine_->symbols.text(stored));
  io::structured_columns columns;
  columns.types = &engine_->analysed().structures;
  columns.records = &engine_->records;
  columns.wide = engine_->wide_or_none();
  io::byte_buffer text;
  io::structured_printer(text, columns, false, engine_->symbols).print(stored, {attribute.kind, attribute.structure});
  return std::string(text.bytes());
}

const std::string& relation::name() const { return declaration_of(engine_, relation_).name; }

std::size_t relation::arity() const { return declaration_of(engine_, relation_).attributes.size(); }

std::vector<attribute> relation::attributes() const {
  return detail::attributes_of(declaration_of(engine_, relation_));
}

std::uint64_t relation::size() const { return engine_->rows(relation_); }

bool relation::contains(std::span<const value> values) const {
  const sema::relation& declared = declaration_of(engine_, relation_);
  require_fitting(values, declared, *engine_);
  const auto words = known_words_of(values, declared, *engine_);
  return words && engine_->contains(relation_, *words);
}

void relation::insert(std::span<const value> values) {
  const sema::relation& declared = declaration_of(engine_, relation_);
  engine_->require_changeable(relation_);
  require_fitting(values, declared, *engine_);
  try {
    std::vector<gpulog::word> words;
    for (std::size_t c = 0; c < values.size(); ++c) {
      words.push_back(word_of(values[c], declared.attributes[c].kind, *engine_));
    }
    engine_->stage(relation_, words);
  } catch (const backend::memory_exceeded& fault) {
    throw memory_limit_error(fmt::format("Out of memory while inserting into relation {}: {}", declared.name,
                                         backend::shortage(fault, engine_->memory)));
  }
}

void relation::erase(std::span<const value> values) {
  const sema::relation& declared = declaration_of(engine_, relation_);
  engine_->require_changeable(relation_);
  require_fitting(values, declared, *engine_);
  if (auto words = known_words_of(values, declared, *engine_)) engine_->erase(relation_, std::move(*words));
}

}  // namespace gpulog
