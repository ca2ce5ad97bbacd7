#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "engine/engine_state.hpp"
#include "engine/rows/interned_texts.hpp"
#include "engine/rows/typed_values.hpp"
#include "engine/rows/value_bits.hpp"
#include "gpulog/relation.hpp"
#include "io/values/structured_value.hpp"
#include "sema/types/types.hpp"

namespace gpulog {
namespace {

/// Appends the words of a column that the caller provides.
class column_reader {
 public:
  column_reader(std::uint32_t relation, std::size_t column, detail::run_context& run, backend::array<word>& words)
      : relation_(relation),
        column_(column),
        declared_(run.relation(relation)),
        attribute_(declared_.attributes[column]),
        run_(run),
        words_(words) {}

  template <class Value>
  void operator()(std::span<const Value> values) const {
    if constexpr (std::is_convertible_v<Value, std::string_view>) {
      if (io::is_structured(attribute_.kind)) return detail::append_new_words(values, relation_, column_, run_, words_);
      if (attribute_.kind != value_kind::symbol) throw wrong_type();
      words_.resize(values.size());
      io::task_runner tasks(run_.options.jobs);
      detail::intern_texts(
          run_.values.symbols,
          [values](std::uint64_t row) { return std::string_view(values[static_cast<std::size_t>(row)]); },
          values.size(), words_.data(), tasks);
    } else if constexpr (!std::is_arithmetic_v<Value>) {
      detail::append_new_words(values, relation_, column_, run_, words_);
    } else {
      read_numbers(values);
    }
  }

 private:
  template <class Value>
  void read_numbers(std::span<const Value> values) const {
    const detail::bits_of_value bits_of(attribute_.kind, run_.values.wide.has_value());
    if (!bits_of(Value{}).has_value()) throw wrong_type();
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::optional<wide_word> bits = bits_of(values[row]);
      if (!bits) {
        throw input_error(fmt::format("row {} of attribute {} of relation {} is no {} of 32 bits: {}", row,
                                      attribute_.name, declared_.name, sema::kind_name(attribute_.kind), values[row]));
      }
      words_.push_back(storage::word_of(*bits, run_.values.wide_or_none()));
    }
  }

  [[nodiscard]] input_error wrong_type() const {
    return input_error(fmt::format("attribute {} of relation {} is of type {}", attribute_.name, declared_.name,
                                   sema::kind_name(attribute_.kind)));
  }

  std::uint32_t relation_;
  std::size_t column_;
  const sema::relation& declared_;
  const sema::attribute& attribute_;
  detail::run_context& run_;
  backend::array<word>& words_;
};

std::size_t length_of(const typed_column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column);
}

/// Returns the rows of columns.
/// @throws like relation::insert_columns
detail::staged_rows block_of(std::uint32_t relation, std::span<const typed_column> columns,
                             detail::engine_state& engine) {
  const sema::relation& declared = engine.run().relation(relation);
  engine.results().require_changeable(relation);
  if (columns.empty() && declared.attributes.empty()) {
    throw input_error("relation " + declared.name + " has no attributes: how many tuples there are is unknown");
  }
  if (columns.size() != declared.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} columns were given", declared.name,
                                  declared.attributes.size(), columns.size()));
  }
  const std::size_t rows = length_of(columns.front());
  for (std::size_t c = 1; c < columns.size(); ++c) {
    if (length_of(columns[c]) == rows) continue;
    throw input_error(fmt::format("attribute {} of relation {} has {} values, but attribute {} has {}",
                                  declared.attributes[c].name, declared.name, length_of(columns[c]),
                                  declared.attributes[0].name, rows));
  }
  try {
    detail::staged_rows block;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      backend::array<word>& words = block.columns.emplace_back(engine.run().values.memory);
      words.reserve(rows);
      std::visit(column_reader(relation, c, engine.run(), words), columns[c]);
    }
    block.rows = rows;
    return block;
  } catch (const backend::memory_exceeded& fault) {
    throw detail::out_of_memory("inserting into relation " + declared.name, fault, engine.run().values.memory);
  }
}

}  // namespace

void relation::insert_columns(std::span<const typed_column> columns) {
  engine_->facts().stage(relation_, block_of(relation_, columns, *engine_));
}

void relation::erase_columns(std::span<const typed_column> columns) {
  engine_->facts().erase(relation_, block_of(relation_, columns, *engine_), !engine_->results().has_begun());
}

}  // namespace gpulog
