#include "cli/profile/page.hpp"

#include <string_view>

#include "cli/profile/page_template.hpp"

namespace gpulog::cli {
namespace {

/// Position of the record in the template.
constexpr std::string_view place = "/*RECORD*/";

/// Returns the record without members that the page does not show: a third of the record for a large program.
nlohmann::ordered_json shown_part(nlohmann::ordered_json document) {
  for (nlohmann::ordered_json& stratum : document.at("strata")) {
    for (const char* const key : {"phases", "sizes", "indexes"}) stratum.erase(key);
    for (nlohmann::ordered_json& rule : stratum.at("rules")) {
      rule.erase("first_plan");
      if (rule.contains("operators") && !rule["operators"].empty()) rule.erase("plan");
    }
  }
  return document;
}

}  // namespace

std::string page_of(const run_record& record) {
  const std::string text =
      shown_part(record.document).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const std::string_view whole = page_template;
  const std::size_t begin = whole.find(place);
  std::string page(whole.substr(0, begin));
  page.reserve(whole.size() + text.size());
  for (const char c : text) {
    // A text cannot close the script element, because "<" occurs only in strings and is escaped.
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
