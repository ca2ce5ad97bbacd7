#include "cli/profile/page.hpp"

#include <string_view>

#include "cli/profile/page_template.hpp"

namespace gpulog::cli {
namespace {

/// Where the record goes in the template.
constexpr std::string_view place = "/*RECORD*/";

}  // namespace

std::string page_of(const run_record& record) {
  const std::string text = record.document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const std::string_view whole = page_template;
  const std::size_t begin = whole.find(place);
  std::string page(whole.substr(0, begin));
  page.reserve(whole.size() + text.size());
  for (const char c : text) {
    // Nothing in a text ends the script: "<" stands in strings only.
    if (c == '<') {
      page += "\\u003c";
    } else {
      page += c;
    }
  }
  page += whole.substr(begin + place.size());
  return page;
}

}  // namespace gpulog::cli
