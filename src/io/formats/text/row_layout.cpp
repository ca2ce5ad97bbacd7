#include "io/formats/text/row_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/values/number_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// More columns than any useful text file; keeps a mistyped number from exhausting memory.
constexpr std::uint32_t most_columns = 10'000'000;

/// Parses the parameter columns="2:0": for each attribute the number of its column in the file.
std::vector<std::size_t> listed_columns(const std::string& list, std::size_t arity) {
  std::vector<std::size_t> result;
  const auto refuse = [&] { throw user_error(fmt::format("Invalid column set was given: <{}>", list)); };
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    std::uint32_t number = 0;
    if (!parse_unsigned(std::string_view(list).substr(begin, end - begin), number) || number > most_columns) refuse();
    if (std::find(result.begin(), result.end(), number) != result.end()) refuse();
    result.push_back(number);
    begin = end + 1;
  }
  if (result.size() != arity) refuse();
  return result;
}

}  // namespace

row_layout make_row_layout(const directive_parameters& parameters, const std::vector<value_kind>& kinds) {
  row_layout layout;
  layout.arity = kinds.size();
  layout.rfc4180 = parameters.flag("rfc4180");
  layout.delimiter = parameters.delimiter(layout.rfc4180);
  if (layout.delimiter.empty()) throw user_error("the parameter delimiter is empty");
  if (layout.delimiter.find('\n') != std::string::npos) {
    throw user_error("the parameter delimiter contains a line break");
  }
  std::vector<std::size_t> sources;
  const std::string list = parameters.text("columns", "");
  if (list.empty()) {
    for (std::size_t attribute = 0; attribute < kinds.size(); ++attribute) sources.push_back(attribute);
  } else {
    sources = listed_columns(list, kinds.size());
  }
  if (!sources.empty()) layout.columns.resize(*std::max_element(sources.begin(), sources.end()) + 1);
  for (std::size_t attribute = 0; attribute < kinds.size(); ++attribute) {
    layout.columns[sources[attribute]] = {attribute, kinds[attribute]};
    if (kinds[attribute] == value_kind::symbol) layout.has_symbols = true;
  }
  return layout;
}

}  // namespace gpulog::io
