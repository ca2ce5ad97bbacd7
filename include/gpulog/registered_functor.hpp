#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "gpulog/error.hpp"
#include "gpulog/relation.hpp"

namespace gpulog {

/// Output of a functor, one result per row.
using result_values =
    std::variant<std::span<std::int32_t>, std::span<std::uint32_t>, std::span<float>, std::span<std::string>,
                 std::span<std::int64_t>, std::span<std::uint64_t>, std::span<double>>;

/// A functor of the caller, for run_options::functors. Each call processes many rows, with a column per parameter and a
/// result per row. The types are std::int32_t for number, std::uint32_t for unsigned, float for float; for symbol
/// std::string_view as an argument and std::string as a result; in 64-bit programs std::int64_t, std::uint64_t and
/// double. Several threads may call a functor at the same time. The constructor of an engine calls each functor once
/// without rows to check the types. An exception from a functor ends the run and leaves engine::evaluate().
using registered_functor = std::function<void(std::span<const column_values> arguments, const result_values& results)>;

namespace detail {

template <class Value>
inline constexpr bool is_text = std::is_same_v<Value, std::string> || std::is_same_v<Value, std::string_view>;

template <class Parameter>
using argument_span = std::span<const std::conditional_t<is_text<std::remove_cvref_t<Parameter>>, std::string_view,
                                                         std::remove_cvref_t<Parameter>>>;

template <class Result>
using result_span = std::span<std::conditional_t<is_text<Result>, std::string, Result>>;

template <class Result, class... Parameters>
registered_functor by_row(std::function<Result(Parameters...)> function) {
  return [function = std::move(function)](std::span<const column_values> arguments, const result_values& results) {
    if (arguments.size() != sizeof...(Parameters)) throw input_error("a functor has another number of parameters");
    const auto call_all = [&]<std::size_t... Places>(std::index_sequence<Places...>) {
      const auto& made = std::get<result_span<std::remove_cvref_t<Result>>>(results);
      const auto columns = std::make_tuple(std::get<argument_span<Parameters>>(arguments[Places])...);
      for (std::size_t row = 0; row < made.size(); ++row) {
        made[row] = function(std::remove_cvref_t<Parameters>(std::get<Places>(columns)[row])...);
      }
    };
    call_all(std::index_sequence_for<Parameters...>());
  };
}

}  // namespace detail

/// Wraps a function as a functor that calls it for each row: row_functor([](std::int32_t x, std::string_view s) {
/// return x; }). Texts may also be std::string.
template <class Function>
[[nodiscard]] registered_functor row_functor(Function function) {
  return detail::by_row(std::function(std::move(function)));
}

}  // namespace gpulog
