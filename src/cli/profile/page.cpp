#include "cli/profile/page.hpp"

#include <string_view>

#include "cli/profile/page_template.hpp"

namespace gpulog::cli {
namespace {

/// Where the record goes in the template.
constexpr std::string_view place = "/*RECORD*/";

/// The record without what the page does not show: of a large program that is a third of it.
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
