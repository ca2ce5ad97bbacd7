#include "cli/profile/record.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpulog/error.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw input_error(fmt::format("Cannot read {}: {}", file, std::strerror(errno)));
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) throw input_error(fmt::format("Cannot read {}: {}", file, std::strerror(errno)));
  return text;
}

void require_version(const std::string& file, const ordered_json& document) {
  if (!document.is_object() || !document.contains("strata"))
    throw input_error(fmt::format("{} is no record of a run", file));
  const auto version = document.find("schema_version");
  if (version == document.end()) {
    throw input_error(fmt::format("{} is a record without a version, of an older gpulog: this one reads version {}",
                                  file, statistics::schema_version));
  }
  if (*version != statistics::schema_version) {
    throw input_error(fmt::format("{} is a record of version {}: this gpulog reads version {}", file, version->dump(),
                                  statistics::schema_version));
  }
}

std::string names_of(const ordered_json& stratum) {
  std::string names;
  for (const ordered_json& name : stratum.at("relations"))
    names += (names.empty() ? "" : ", ") + name.get<std::string>();
  return names;
}

}  // namespace

run_record read_record(const std::string& file) { return record_of(text_of(file), file); }

run_record record_of(const std::string& text, const std::string& file) {
  run_record record;
  record.file = file;
  if (text.empty()) throw input_error(fmt::format("{} is empty", file));
  try {
    record.document = ordered_json::parse(text);
  } catch (const ordered_json::parse_error& fault) {
    if (fault.byte > text.size())
      throw input_error(fmt::format("{} ends after {} bytes, within the document", file, text.size()));
    throw input_error(fmt::format("{} is no record of a run: byte {} is no JSON", file, fault.byte));
  }
  require_version(file, record.document);
  try {
    for (const char* key : {"outcome", "spans", "files", "samples", "relations", "sources", "machine"})
      static_cast<void>(record.document.at(key));
    for (const ordered_json& stratum : record.document.at("strata")) {
      const std::string names = names_of(stratum);
      for (const ordered_json& rule : stratum.at("rules")) {
        const double own = rule.at("seconds");
        const double of_indexes = rule.value("index_seconds", 0.0);
        record.rules.push_back({rule.at("rule"), rule.at("location"), rule.at("delta_atom"), names, rule.at("runs"),
                                rule.at("candidates"), rule.at("tuples"), own + of_indexes, of_indexes});
      }
    }
  } catch (const ordered_json::exception& fault) {
    throw input_error(fmt::format("{} is no record of a run: {}", file, fault.what()));
  }
  return record;
}

}  // namespace gpulog::cli
