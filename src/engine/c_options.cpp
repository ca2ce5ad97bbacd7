#include "engine/c_options.hpp"

#include <fmt/core.h>

#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/error.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {
namespace {

using setter = std::function<void(c_options&, const std::string&)>;

input_error wrong_value(std::string_view name, std::string_view value) {
  return input_error(fmt::format("{} has no value '{}'", name, value));
}

/// Returns a setter of a number.
template <class Number, class Options>
setter number(std::string name, Options c_options::*options, Number Options::*member) {
  return [=](c_options& into, const std::string& value) {
    Number& number = into.*options.*member;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (value.empty() || read.ec != std::errc() || read.ptr != end) throw wrong_value(name, value);
  };
}

/// Returns a setter of an option that may be given several times.
template <class Options>
setter list(Options c_options::*options, std::vector<std::string> Options::*member) {
  return [=](c_options& into, const std::string& value) { (into.*options.*member).push_back(value); };
}

/// Returns a setter of a value that a function parses.
template <class Value, class Options, class Parse>
setter parsed(std::string name, Options c_options::*options, Value Options::*member, Parse parse) {
  return [=](c_options& into, const std::string& value) {
    const auto found = parse(value);
    if (!found) throw wrong_value(name, value);
    into.*options.*member = *found;
  };
}

std::optional<bool> switch_from_text(std::string_view text) {
  if (text != "0" && text != "1") return std::nullopt;
  return text == "1";
}

const std::map<std::string, setter, std::less<>>& setters() {
  static const std::map<std::string, setter, std::less<>> all = {
      {"word_size", number("word_size", &c_options::compile, &compile_options::word_size)},
      {"include", list(&c_options::compile, &compile_options::include_directories)},
      {"macro", list(&c_options::compile, &compile_options::macros)},
      {"filled", list(&c_options::compile, &compile_options::filled_relations)},
      {"portable", parsed("portable", &c_options::compile, &compile_options::portable, switch_from_text)},
      {"facts", [](c_options& into, const std::string& value) { into.run.fact_directory = value; }},
      {"output", [](c_options& into, const std::string& value) { into.run.output_directory = value; }},
      {"jobs", number("jobs", &c_options::run, &run_options::jobs)},
      {"backend", parsed("backend", &c_options::run, &run_options::backend, backend_from_name)},
      {"device", number("device", &c_options::run, &run_options::device)},
      {"storage", parsed("storage", &c_options::run, &run_options::storage, storage_from_name)},
      {"memory_limit", parsed("memory_limit", &c_options::run, &run_options::memory_limit, bytes_from_text)},
      {"changes", parsed("changes", &c_options::run, &run_options::changes, switch_from_text)},
      {"spill", [](c_options& into, const std::string& value) { into.run.spill_directory = value; }},
      {"functor_library", list(&c_options::run, &run_options::functor_libraries)},
      {"functor_directory", list(&c_options::run, &run_options::functor_directories)},
  };
  return all;
}

input_error unknown_option(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, set] : setters()) names.push_back(known);
  for (const tuning_choice& choice : tuning_choices()) names.push_back(choice.name);
  return input_error(fmt::format("there is no option {}{}", name, did_you_mean(name, names)));
}

}  // namespace

c_options::c_options(const char* const* texts) {
  for (; texts != nullptr && *texts != nullptr; ++texts) {
    const std::string_view text = *texts;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) throw input_error(fmt::format("'{}' is not name=value", text));
    const std::string_view name = text.substr(0, equals);
    const std::string value(text.substr(equals + 1));
    if (const auto found = setters().find(name); found != setters().end()) {
      found->second(*this, value);
      continue;
    }
    if (!tuning_fault(name, value).empty()) {
      bool is_choice = false;
      for (const tuning_choice& choice : tuning_choices()) is_choice = is_choice || choice.name == name;
      throw is_choice ? wrong_value(name, value) : unknown_option(name);
    }
    run.tuning.insert_or_assign(std::string(name), value);
  }
}

}  // namespace gpulog::detail
