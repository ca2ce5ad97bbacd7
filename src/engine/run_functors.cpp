#include "engine/run_functors.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <variant>

#include "gpulog/error.hpp"
#include "kernels/steps/registered_call.hpp"
#include "sema/types/types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {
namespace {

/// By functor: the first rule that calls it, or nullptr.
using callers = std::vector<const sema::rule*>;

void note_caller(std::size_t functor, const sema::rule& rule, callers& first) {
  if (first[functor] == nullptr) first[functor] = &rule;
}

void note_calls(const sema::expression& tree, const sema::rule& rule, callers& first) {
  if (tree.is_operation() && tree.op == scalar_op::call_functor) {
    note_caller(static_cast<std::size_t>(tree.arguments.front().constant), rule, first);
  }
  for (const sema::expression& argument : tree.arguments) note_calls(argument, rule, first);
}

void note_calls(const std::vector<sema::literal>& body, const sema::rule& rule, callers& first) {
  for (const sema::literal& part : body) {
    if (const auto* test = std::get_if<sema::constraint>(&part)) {
      note_calls(test->left, rule, first);
      note_calls(test->right, rule, first);
    } else if (const auto* folded = std::get_if<sema::aggregate>(&part)) {
      if (folded->op == fold_op::functor) note_caller(folded->functor, rule, first);
      note_calls(folded->target, rule, first);
      note_calls(folded->body, rule, first);
    } else if (const auto* made = std::get_if<sema::generator>(&part)) {
      for (const sema::expression& argument : made->arguments) note_calls(argument, rule, first);
    }
  }
}

/// Returns the first rule that calls each functor, by number; nullptr: no rule calls the functor, and no library needs
/// to have it.
callers functor_callers(const sema::program& analysed, const std::vector<bool>& needed) {
  callers first(analysed.functors.size(), nullptr);
  for (const auto* rules : {&analysed.rules, &analysed.subsumptions}) {
    for (const sema::rule& rule : *rules) {
      if (!needed[rule.head.relation.value]) continue;
      for (const sema::expression& argument : rule.head.arguments) note_calls(argument, rule, first);
      note_calls(rule.body, rule, first);
    }
  }
  return first;
}

/// Formats the types, for example as (number,symbol):number.
std::string types_of(const user_functor& described) {
  std::vector<std::string_view> parameters;
  for (const value_kind kind : described.parameters) parameters.push_back(sema::kind_name(kind));
  return fmt::format("({}):{}", fmt::join(parameters, ","), sema::kind_name(described.result));
}

input_error not_callable(const user_functor& described, const std::string& reason) {
  return input_error(fmt::format("User-defined functor @{} cannot be called: {}", described.name, reason));
}

/// Calls a registered functor with zero rows, so that type errors are reported before any file is read.
void require_callable(const user_functor& described, const registered_functor& function, run_values& values) {
  if (!function) throw not_callable(described, "there is no function");
  if (described.stateful) throw not_callable(described, "it is stateful, as only functors of libraries can be");
  try {
    const std::vector<const word*> no_rows(described.parameters.size());
    kernels::call_registered(described, function, no_rows, 0, nullptr, values.symbols, values.wide_or_none());
  } catch (const std::bad_variant_access&) {
    throw not_callable(described,
                       fmt::format("it is declared as {} with words of {} bits, and the function has other types",
                                   types_of(described), values.wide ? 64 : 32));
  } catch (const input_error& fault) {
    throw not_callable(described, fault.what());
  }
}

/// @throws input_error for a functor of the caller that the program does not declare
void require_declared(const sema::program& program, const run_options& options) {
  std::vector<std::string> declared;
  for (const user_functor& functor : program.functors) declared.push_back(functor.name);
  for (const auto& [name, function] : options.functors) {
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) continue;
    throw input_error("There is no functor " + name + did_you_mean(name, declared));
  }
}

}  // namespace

void run_functors::closer::operator()(void* library) const { dlclose(library); }

run_functors::run_functors(const run_options& options, const std::map<std::string, std::string>& pragmas)
    : names_(options.functor_libraries), directories_(options.functor_directories), base_(options.functor_base) {
  const auto from_pragma = [&](const std::string& key, std::vector<std::string>& values, const char* otherwise) {
    if (!values.empty()) return;
    const auto found = pragmas.find(key);
    values.push_back(found == pragmas.end() ? otherwise : found->second);
  };
  from_pragma("libraries", names_, "functors");
  from_pragma("library-dir", directories_, ".");
}

std::string run_functors::existing(const std::string& path) const {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  if (base_.empty() || path.starts_with('/')) return {};
  std::string there = fmt::format("{}/{}", base_, path);
  return std::filesystem::exists(there, ignored) ? there : std::string();
}

bool run_functors::open(const std::string& path) {
  if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    libraries_.emplace_back(library);
    return true;
  }
  const char* const reason = dlerror();
  failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", reason == nullptr ? path : reason);
  return false;
}

void run_functors::open() {
  if (opened_) return;
  opened_ = true;
  for (const std::string& name : names_) {
    if (name.empty()) continue;
    if (name.find('/') != std::string::npos) {
      // Soufflé adds lib and .so around the whole path; a plain path also works because shells complete paths.
      const std::string path = existing(name);
      open(path.empty() ? fmt::format("lib{}.so", name) : path);
      continue;
    }
    bool found = false;
    for (const std::string& directory : directories_) {
      const std::string path = existing(fmt::format("{}/lib{}.so", directory, name));
      if (path.empty()) continue;
      found = open(path);
      break;
    }
    // Falls back to the search path of the dynamic loader.
    if (!found) open(fmt::format("lib{}.so", name));
  }
}

void run_functors::find(const sema::program& program, const std::vector<bool>& needed, const run_options& options,
                        run_values& values) {
  table_.reset();
  require_declared(program, options);
  if (program.functors.empty()) return;
  const callers first = functor_callers(program, needed);
  table_.emplace(values.symbols, values.records, values.wide_or_none());
  for (std::size_t number = 0; number < first.size(); ++number) {
    const user_functor& described = program.functors[number];
    if (const auto registered = options.functors.find(described.name); registered != options.functors.end()) {
      require_callable(described, registered->second, values);
      table_->add(described, registered->second);
      continue;
    }
    table_->add(described, first[number] == nullptr ? nullptr : function_of(described, *first[number]));
  }
}

std::vector<std::string> run_functors::library_files() const {
  std::vector<std::string> files;
  for (const auto& library : libraries_) {
    link_map* opened = nullptr;
    if (dlinfo(library.get(), RTLD_DI_LINKMAP, &opened) == 0) files.emplace_back(opened->l_name);
  }
  return files;
}

void* run_functors::function_of(const user_functor& described, const sema::rule& caller) {
  if (const std::string reason = kernels::why_not_callable(described); !reason.empty())
    throw not_callable(described, reason);
  open();
  for (const auto& library : libraries_) {
    if (void* const function = dlsym(library.get(), described.name.c_str())) return function;
  }
  throw input_error(
      fmt::format("User-defined functor @{} is in none of the libraries ({}) in {}{} in rule:\n{}\nin file {}",
                  described.name, fmt::join(names_, ", "), fmt::join(directories_, ", "),
                  failures_.empty() ? "" : fmt::format(" ({})", failures_), caller.text, to_string(caller.span)));
}

}  // namespace gpulog::detail
