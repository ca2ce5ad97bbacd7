#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/rows/shown_rows.hpp"
#include "engine/rows/typed_values.hpp"
#include "gpulog/error.hpp"
#include "gpulog/relation.hpp"
#include "io/values/structured_value.hpp"
#include "support/long_vector.hpp"

namespace gpulog {
namespace {

/// Converted values of a column, with the engine that owns the bytes of texts.
template <class Value>
struct made_column {
  std::vector<Value> values;
  std::shared_ptr<detail::shown_evaluation> shown;
};

/// Converts the words of a column into typed values.
class column_maker {
 public:
  column_maker(const detail::shown_rows& shown, detail::shared_words words)
      : shown_(shown), words_(std::move(words)), run_(shown.shown()->engine->run()) {}

  [[nodiscard]] host_column make(const value_type& type) const {
    if (io::is_structured(type.kind)) return made<value>([&](word one) { return detail::value_of(one, type, run_); });
    if (type.kind == value_kind::symbol)
      return made<std::string_view>([this](word one) { return run_.values.symbols.text(one); });
    if (type.kind == value_kind::number) return numbers<std::int32_t, std::int64_t>();
    if (type.kind == value_kind::unsigned_number) return numbers<std::uint32_t, std::uint64_t>();
    return numbers<float, double>();
  }

 private:
  template <class Value, class Make>
  [[nodiscard]] host_column made(const Make& make) const {
    const auto column = std::make_shared<made_column<Value>>();
    column->shown = shown_.shown();
    column->values.reserve(memory_size(shown_.rows()));
    for (std::uint64_t row = 0; row < shown_.rows(); ++row) column->values.push_back(make(words_.words[row]));
    return {std::span<const Value>(column->values), true, column};
  }

  template <class Number, class Wide>
  [[nodiscard]] host_column numbers() const {
    if (run_.values.wide)
      return made<Wide>([this](word one) { return std::bit_cast<Wide>(run_.values.wide->value(one)); });
    // A word has the same bits as the number.
    const auto* const first = reinterpret_cast<const Number*>(words_.words);
    return {std::span<const Number>(first, memory_size(shown_.rows())), !shown_.are_shared(), words_.owner};
  }

  const detail::shown_rows& shown_;
  detail::shared_words words_;
  const detail::run_context& run_;
};

}  // namespace

host_column detail::column_of(const shown_rows& rows, std::size_t number) {
  const sema::relation& declared = rows.declared();
  if (number >= declared.attributes.size()) {
    throw input_error("relation " + declared.name + " has no column " + std::to_string(number));
  }
  const sema::attribute& attribute = declared.attributes[number];
  return column_maker(rows, rows.columns(0, rows.rows())[number]).make({attribute.kind, attribute.structure});
}

host_column relation::column(std::size_t number) const {
  return detail::column_of(detail::shown_rows(engine_->shared_from_this(), relation_), number);
}

}  // namespace gpulog
