#include "gpulog/relation.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/declarations.hpp"
#include "engine/engine_state.hpp"
#include "engine/rows/typed_values.hpp"
#include "gpulog/error.hpp"
#include "io/values/structured_value.hpp"
#include "sema/types/types.hpp"

namespace gpulog {
namespace {

const sema::relation& declaration_of(const detail::engine_state* engine, std::uint32_t relation) {
  return engine->run().relation(relation);
}

input_error too_wide(std::size_t column, const std::string& relation) {
  return input_error(fmt::format("attribute {} of relation {} holds a value that 32 bits cannot: words have 64 bits",
                                 column, relation));
}

/// @throws input_error for an attribute of another type
void require_kind(value_kind kind, const char* name, std::size_t column, const sema::relation& declared) {
  if (declared.attributes[column].kind != kind)
    throw input_error(fmt::format("attribute {} of relation {} is no {}", column, declared.name, name));
}

}  // namespace

std::size_t tuple::size() const { return declaration_of(engine_, relation_).attributes.size(); }

/// Returns the word in the engine's representation.
std::uint32_t tuple::stored_word(std::size_t column) const {
  const sema::relation& relation = declaration_of(engine_, relation_);
  if (column >= relation.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, and no number {}", relation.name,
                                  relation.attributes.size(), column));
  }
  return engine_->results().at(relation_, row_, column);
}

std::uint64_t tuple::word64(std::size_t column) const {
  return storage::value_of(stored_word(column), engine_->run().values.wide_or_none());
}

std::int64_t tuple::number64(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  require_kind(value_kind::number, "number", column, declaration_of(engine_, relation_));
  return engine_->run().values.wide ? std::bit_cast<std::int64_t>(bits) : static_cast<std::int32_t>(bits);
}

std::uint64_t tuple::unsigned_number64(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  require_kind(value_kind::unsigned_number, "unsigned number", column, declaration_of(engine_, relation_));
  return bits;
}

double tuple::floating64(std::size_t column) const {
  const std::uint64_t bits = word64(column);
  require_kind(value_kind::floating, "float", column, declaration_of(engine_, relation_));
  if (engine_->run().values.wide) return std::bit_cast<double>(bits);
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

std::uint32_t tuple::unsigned_number(std::size_t column) const {
  (void)unsigned_number64(column);
  return word(column);
}

float tuple::floating(std::size_t column) const {
  const double wide = floating64(column);
  const auto number = static_cast<float>(wide);
  if (!std::isnan(wide) && double{number} != wide) throw too_wide(column, declaration_of(engine_, relation_).name);
  return number;
}

std::string_view tuple::symbol(std::size_t column) const {
  const std::uint32_t id = stored_word(column);
  require_kind(value_kind::symbol, "symbol", column, declaration_of(engine_, relation_));
  return engine_->run().values.symbols.text(id);
}

value tuple::value(std::size_t column) const {
  const std::uint32_t stored = stored_word(column);
  const sema::attribute& attribute = declaration_of(engine_, relation_).attributes[column];
  return detail::value_of(stored, {attribute.kind, attribute.structure}, engine_->run());
}

std::string tuple::text(std::size_t column) const {
  const std::uint32_t stored = stored_word(column);
  const sema::attribute& attribute = declaration_of(engine_, relation_).attributes[column];
  if (attribute.kind == value_kind::symbol) return std::string(engine_->run().values.symbols.text(stored));
  const io::structured_columns columns = engine_->run().structured();
  io::byte_buffer text;
  io::structured_printer(text, columns, false, engine_->run().values.symbols)
      .print(stored, {attribute.kind, attribute.structure});
  return std::string(text.bytes());
}

const std::string& relation::name() const { return declaration_of(engine_, relation_).name; }

std::size_t relation::arity() const { return declaration_of(engine_, relation_).attributes.size(); }

std::vector<attribute> relation::attributes() const {
  return detail::attributes_of(declaration_of(engine_, relation_), engine_->run().analysed());
}

std::uint64_t relation::size() const { return engine_->results().rows(relation_); }

bool relation::is_complete() const {
  return engine_->results().has_results_of(relation_) && engine_->results().is_complete(relation_id(relation_));
}

bool relation::contains(std::span<const value> values) const {
  const auto words = detail::known_row_of(values, relation_, engine_->run());
  return words && engine_->results().contains(relation_, *words);
}

void relation::insert(std::span<const value> values) {
  engine_->results().require_changeable(relation_);
  const std::vector<gpulog::word> words = detail::new_row_of(values, relation_, engine_->run());
  try {
    engine_->facts().stage_row(relation_, words);
  } catch (const backend::memory_exceeded& fault) {
    throw detail::out_of_memory("inserting into relation " + name(), fault, engine_->run().values.memory);
  }
}

void relation::erase(std::span<const value> values) {
  engine_->results().require_changeable(relation_);
  if (auto words = detail::known_row_of(values, relation_, engine_->run()))
    engine_->facts().erase(relation_, std::move(*words), !engine_->results().has_begun());
}

}  // namespace gpulog
