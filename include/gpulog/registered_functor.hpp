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

/// Where the results of a functor go, one a row.
using result_values =
    std::variant<std::span<std::int32_t>, std::span<std::uint32_t>, std::span<float>, std::span<std::string>,
                 std::span<std::int64_t>, std::span<std::uint64_t>, std::span<double>>;

/// A functor that the caller has, for run_options::functors. It is called for many rows at a time, with a column for
/// each parameter and a place for each result: std::int32_t for number, std::uint32_t for unsigned, float for float,
/// for symbol std::string_view as an argument and std::string as a result; std::int64_t, std::uint64_t and double in
/// programs with words of 64 bits. Any number of threads may call it at a time. When an engine is made it is called
/// once without rows, so that wrong types are found there. What it throws ends the run and leaves engine::evaluate().
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

/// A functor that calls a function for each row: row_functor([](std::int32_t x, std::string_view s) { return x; }).
/// Texts may be std::string, too.
template <class Function>
[[nodiscard]] registered_functor row_functor(Function function) {
  return detail::by_row(std::function(std::move(function)));
}

}  // namespace gpulog
