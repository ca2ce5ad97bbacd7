#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "engine/engine_state.hpp"
#include "gpulog/error.hpp"
#include "kernels/steps/registered_call.hpp"
#include "sema/types/types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {
namespace {

/// Formats the types, for example as (number,symbol):number.
std::string types_of(const user_functor& described) {
  std::vector<std::string_view> parameters;
  for (const value_kind kind : described.parameters) parameters.push_back(sema::kind_name(kind));
  return fmt::format("({}):{}", fmt::join(parameters, ","), sema::kind_name(described.result));
}

}  // namespace

/// Calls a registered functor with zero rows, so that type errors are reported before any file is read.
void engine_state::require_callable(const user_functor& described, const registered_functor& function) {
  const auto refuse = [&](const std::string& reason) {
    throw input_error(fmt::format("User-defined functor @{} cannot be called: {}", described.name, reason));
  };
  if (!function) refuse("there is no function");
  if (described.stateful) refuse("it is stateful, as only functors of libraries can be");
  try {
    const std::vector<const word*> no_rows(described.parameters.size());
    kernels::call_registered(described, function, no_rows, 0, nullptr, symbols, wide_or_none());
  } catch (const std::bad_variant_access&) {
    refuse(fmt::format("it is declared as {} with words of {} bits, and the function has other types",
                       types_of(described), static_cast<unsigned>(source->words)));
  } catch (const input_error& fault) {
    refuse(fault.what());
  }
}

void engine_state::require_declared_functors() const {
  std::vector<std::string> declared;
  for (const user_functor& functor : analysed().functors) declared.push_back(functor.name);
  for (const auto& [name, function] : options.functors) {
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) continue;
    throw input_error("There is no functor " + name + did_you_mean(name, declared));
  }
}

void engine_state::find_functors() {
  require_declared_functors();
  if (analysed().functors.empty()) return;
  const std::vector<const sema::rule*> callers = functor_callers(analysed(), needed);
  functors.emplace(symbols, records, wide_or_none());
  for (std::size_t number = 0; number < callers.size(); ++number) {
    const user_functor& described = analysed().functors[number];
    if (const auto registered = options.functors.find(described.name); registered != options.functors.end()) {
      require_callable(described, registered->second);
      functors->add(described, registered->second);
      continue;
    }
    functors->add(described, callers[number] == nullptr ? nullptr : function_of(described, *callers[number]));
  }
}

/// A function that is missing is found before any file is read, although Soufflé misses it with the first call only.
void* engine_state::function_of(const user_functor& described, const sema::rule& caller) {
  if (const std::string reason = kernels::why_not_callable(described); !reason.empty()) {
    throw input_error(fmt::format("User-defined functor @{} cannot be called: {}", described.name, reason));
  }
  if (void* const function = libraries.find(described.name)) return function;
  throw input_error(fmt::format("{} in rule:\n{}\nin file {}", libraries.missing(described.name), caller.text,
                                to_string(caller.span)));
}

}  // namespace gpulog::detail
