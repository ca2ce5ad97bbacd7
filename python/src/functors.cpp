#include "functors.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "gpulog/error.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

template <class Value>
constexpr bool is_text = std::is_same_v<Value, std::string> || std::is_same_v<Value, std::string_view>;

template <class Value>
const char* dtype_name() {
  if constexpr (is_text<Value>) return "";
  if constexpr (std::is_floating_point_v<Value>) return sizeof(Value) == 4 ? "float32" : "float64";
  if constexpr (std::is_signed_v<Value>) return sizeof(Value) == 4 ? "int32" : "int64";
  return sizeof(Value) == 4 ? "uint32" : "uint64";
}

template <class Value>
nb::object object_of(const Value& value) {
  if constexpr (is_text<Value>)
    return decoded(value);
  else if constexpr (std::is_floating_point_v<Value>)
    return nb::float_(value);
  else
    return nb::int_(value);
}

/// Copies the values, because the function may keep the array.
template <class Value>
nb::object array_of(std::span<const Value> values) {
  auto copy = std::make_unique<std::vector<Value>>(values.begin(), values.end());
  Value* const data = copy->data();
  const nb::capsule owner(copy.release(), [](void* one) noexcept { delete static_cast<std::vector<Value>*>(one); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(data, {values.size()}, owner));
}

nb::object column_of(const gpulog::column_values& column, bool as_array) {
  return std::visit(
      [&]<class Value>(std::span<const Value> values) -> nb::object {
        if constexpr (!is_text<Value>) {
          if (as_array) return array_of(values);
        }
        nb::list list;
        for (const Value& value : values) list.append(object_of(value));
        return list;
      },
      column);
}

template <class Value>
const char* type_name() {
  if constexpr (is_text<Value>) return "symbol";
  if constexpr (std::is_floating_point_v<Value>) return "float";
  return std::is_signed_v<Value> ? "number" : "unsigned";
}

template <class Value>
reading read(nb::handle given, Value& into) {
  if constexpr (is_text<Value>) {
    into.clear();
    return read_text(given, into);
  } else if constexpr (std::is_floating_point_v<Value>) {
    double value = 0;
    const reading how = read_float(given, value);
    into = static_cast<Value>(value);
    return how;
  } else {
    std::conditional_t<std::is_signed_v<Value>, std::int64_t, std::uint64_t> value = 0;
    reading how = reading::done;
    if constexpr (std::is_signed_v<Value>)
      how = read_number(given, value);
    else
      how = read_unsigned(given, value);
    into = static_cast<Value>(value);
    return how == reading::done && !std::in_range<Value>(value) ? reading::out_of_range : how;
  }
}

template <class Value>
void take_list(const std::string& name, const nb::list& given, std::span<Value> results) {
  if (given.size() != results.size()) {
    throw gpulog::evaluation_error("functor @" + name + " gave " + std::to_string(given.size()) + " results for " +
                                   std::to_string(results.size()) + " rows");
  }
  for (std::size_t row = 0; row < results.size(); ++row) {
    const reading how = read(given[row], results[row]);
    if (how == reading::done) continue;
    const std::string type = type_name<Value>();
    const std::string size = how == reading::out_of_range ? " of " + std::to_string(8 * sizeof(Value)) + " bits" : "";
    throw gpulog::evaluation_error("functor @" + name + " gave no " + type + size + ": " + text_of(given[row]));
  }
}

template <class Value>
void take_results(const std::string& name, const nb::object& given, std::span<Value> results) {
  if (nb::isinstance<nb::list>(given)) return take_list(name, nb::borrow<nb::list>(given), results);
  if constexpr (!is_text<Value>) {
    using array = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto values = nb::cast<array>(given, false);
    if (values.shape(0) != results.size()) throw gpulog::evaluation_error("functor @" + name + " gave too few results");
    std::copy_n(values.data(), results.size(), results.begin());
  }
}

}  // namespace

void call_functor(const std::string& name, const python_functor& called,
                  std::span<const gpulog::column_values> arguments, const gpulog::result_values& results) {
  nb::list columns;
  for (const gpulog::column_values& column : arguments) columns.append(column_of(column, called.takes_arrays));
  std::visit(
      [&]<class Value>(std::span<Value> made) {
        take_results(name, called.function(dtype_name<Value>(), made.size(), columns), made);
      },
      results);
}

}  // namespace gpulog_python
