#include "cli/profile/page.hpp"

#include <string_view>

#include "cli/profile/advice.hpp"
#include "cli/profile/page_template.hpp"
#include "cli/profile/time_shares.hpp"

namespace gpulog::cli {
namespace {

/// Position of the record in the template.
constexpr std::string_view place = "/*RECORD*/";

/// Adds times outside rules and advice, which the record implies.
void add_findings(const run_record& record, nlohmann::ordered_json& document) {
  document["shares"] = nlohmann::ordered_json::array();
  for (const time_share& one : shares_outside_rules(record)) {
    document["shares"].push_back(
        {{"name", one.name}, {"meaning", one.meaning}, {"seconds", one.seconds}, {"parts", one.parts}});
  }
  document["advice"] = nlohmann::ordered_json::array();
  for (const advice& one : advice_for(record))
    document["advice"].push_back({{"rule", one.rule}, {"seconds", one.seconds}, {"text", one.text}});
  document["advised_share"] = advised_share;
}

/// Returns the findings and the record without members that the page does not show: a third of the record for a large
/// program.
nlohmann::ordered_json shown_part(const run_record& record) {
  nlohmann::ordered_json document = record.document;
  add_findings(record, document);
  for (nlohmann::ordered_json& stratum : document.at("strata")) {
    stratum["shares"] = stratum_shares(stratum);
    for (const char* const key : {"phases", "sizes"}) stratum.erase(key);
    for (nlohmann::ordered_json& rule : stratum.at("rules")) {
      rule.erase("earlier_plans");
      if (rule.contains("operators") && !rule["operators"].empty()) rule.erase("plan");
    }
  }
  return document;
}

}  // namespace

std::string page_of(const run_record& record) {
  const std::string text = shown_part(record).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
