#include "engine/functor_libraries.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "gpulog/error.hpp"

namespace gpulog::detail {

namespace {

/// By functor: the first rule that calls it, or nullptr.
using callers = std::vector<const sema::rule*>;

void note_caller(std::size_t functor, const sema::rule& rule, callers& first) {
  if (first[functor] == nullptr) first[functor] = &rule;
}

void note_calls(const sema::expression& tree, const sema::rule& rule, callers& first) {
  if (tree.is_operation() && tree.op == scalar_op::call_functor) {
    note_caller(tree.arguments.front().constant, rule, first);
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

}  // namespace

std::vector<const sema::rule*> functor_callers(const sema::program& analysed, const std::vector<bool>& needed) {
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

void functor_libraries::closer::operator()(void* library) const { dlclose(library); }

functor_libraries::functor_libraries(const run_options& options, const std::map<std::string, std::string>& pragmas)
    : names_(options.functor_libraries), directories_(options.functor_directories), base_(options.functor_base) {
  const auto from_pragma = [&](const std::string& key, std::vector<std::string>& values, const char* otherwise) {
    if (!values.empty()) return;
    const auto found = pragmas.find(key);
    values.push_back(found == pragmas.end() ? otherwise : found->second);
  };
  from_pragma("libraries", names_, "functors");
  from_pragma("library-dir", directories_, ".");
}

std::string functor_libraries::existing(const std::string& path) const {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  if (base_.empty() || path.starts_with('/')) return {};
  std::string there = fmt::format("{}/{}", base_, path);
  return std::filesystem::exists(there, ignored) ? there : std::string();
}

bool functor_libraries::open(const std::string& path) {
  if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    libraries_.emplace_back(library);
    return true;
  }
  const char* const reason = dlerror();
  failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", reason == nullptr ? path : reason);
  return false;
}

void functor_libraries::open() {
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

void* functor_libraries::find(const std::string& name) {
  open();
  for (const auto& library : libraries_) {
    if (void* const function = dlsym(library.get(), name.c_str())) return function;
  }
  return nullptr;
}

std::string functor_libraries::missing(const std::string& name) const {
  return fmt::format("User-defined functor @{} is in none of the libraries ({}) in {}{}", name, fmt::join(names_, ", "),
                     fmt::join(directories_, ", "), failures_.empty() ? "" : fmt::format(" ({})", failures_));
}

}  // namespace gpulog::detail
