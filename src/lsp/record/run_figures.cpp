#include "lsp/record/run_figures.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "lsp/protocol/json.hpp"

namespace gpulog::lsp {

namespace {

namespace fs = std::filesystem;

constexpr int record_version = 2;
constexpr std::size_t most_candidates = 1000;
constexpr std::uintmax_t longest_record = std::uintmax_t{1} << 28;

/// A location "file.dl [4:1-4:25]", with lines and columns from 1.
struct recorded_location {
  std::string file;
  std::size_t line = 0, column = 0, last_line = 0, last_column = 0;
};

std::optional<recorded_location> location_of_text(const std::string& text) {
  const std::size_t open = text.rfind(" [");
  if (open == std::string::npos) return std::nullopt;
  recorded_location result;
  result.file = text.substr(0, open);
  const char* at = text.data() + open + 1;
  const char* const end = text.data() + text.size();
  for (std::size_t* number : {&result.line, &result.column, &result.last_line, &result.last_column}) {
    const auto [rest, fault] = std::from_chars(at + 1, end, *number);
    if (fault != std::errc() || *number == 0 || rest == end) return std::nullopt;
    at = rest;
  }
  return result;
}

/// Returns the text at the location; nothing if the text has no such place.
std::optional<std::string> text_at(std::string_view text, const recorded_location& location) {
  const auto offset = [text](std::size_t line, std::size_t column) {
    std::size_t begin = 0;
    for (; line > 1 && begin != std::string_view::npos; --line) {
      begin = text.find('\n', begin);
      if (begin != std::string_view::npos) ++begin;
    }
    return begin == std::string_view::npos ? begin : begin + column - 1;
  };
  const std::size_t begin = offset(location.line, location.column);
  const std::size_t end = offset(location.last_line, location.last_column);
  if (begin >= end || end > text.size()) return std::nullopt;
  return std::string(text.substr(begin, end - begin));
}

std::string first_bytes_of(const std::string& file, std::size_t count) {
  std::ifstream in(file, std::ios::binary);
  std::string text(count, '\0');
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::uint64_t count_in(const json& object, const char* name) {
  return static_cast<std::uint64_t>(integer_of(object.at(name)));
}

}  // namespace

std::unique_ptr<run_figures> run_figures::parse(const std::string& text) {
  const json document = json::parse(text, nullptr, false);
  try {
    if (!document.is_object() || integer_of(document.at("schema_version")) != record_version) return nullptr;
    auto result = std::make_unique<run_figures>();
    result->program_ = base_name(document.at("program").get_ref<const std::string&>());
    for (const json& each : document.at("relations")) {
      result->relations_[each.at("name")] = {count_in(each, "tuples"), count_in(each, "bytes")};
    }
    std::map<std::string, std::string> sources;
    for (const json& each : document.at("sources")) {
      sources.emplace(base_name(each.at("path").get_ref<const std::string&>()), each.at("text"));
    }
    for (const json& stratum : document.at("strata")) {
      for (const json& rule : stratum.at("rules")) {
        const auto location = location_of_text(rule.at("location"));
        const auto source = location ? sources.find(location->file) : sources.end();
        const auto clause = source == sources.end() ? std::nullopt : text_at(source->second, *location);
        if (!clause) continue;
        clause_figures& figures = result->clauses_[{location->file, *clause}];
        const std::uint64_t candidates = count_in(rule, "candidates");
        const std::uint64_t tuples = count_in(rule, "tuples");
        figures.seconds += rule.at("seconds").get<double>();
        figures.tuples += tuples;
        figures.duplicates += candidates - std::min(candidates, tuples);
      }
    }
    return result;
  } catch (const json::exception&) {
    return nullptr;
  }
}

std::optional<relation_figures> run_figures::relation(const std::string& name) const {
  const auto found = relations_.find(name);
  return found == relations_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<clause_figures> run_figures::clause(const source_span& span) const {
  const std::string_view text = span.file->text().substr(span.begin, span.end - span.begin);
  const auto found = clauses_.find({std::string(base_name(span.file->path())), std::string(text)});
  return found == clauses_.end() ? std::nullopt : std::optional(found->second);
}

const run_figures* record_finder::read(const std::string& file) {
  std::error_code fault;
  const fs::file_time_type time = fs::last_write_time(file, fault);
  if (fault) return nullptr;
  const auto kept = records_.find(file);
  if (kept != records_.end() && kept->second.time == time) return kept->second.figures.get();
  std::unique_ptr<run_figures> figures;
  const bool may_be_record = first_bytes_of(file, 64).find("\"schema_version\"") != std::string::npos;
  if (may_be_record && fs::file_size(file, fault) <= longest_record && !fault) {
    std::ifstream in(file, std::ios::binary);
    figures = run_figures::parse(std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()));
  }
  kept_record& record = records_[file] = {time, std::move(figures)};
  return record.figures.get();
}

const run_figures* record_finder::newest(const std::vector<std::string>& folders, const std::string& program) {
  std::vector<std::pair<fs::file_time_type, std::string>> candidates;
  for (const std::string& folder : folders) {
    std::error_code fault;
    fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, fault);
    for (const fs::directory_iterator end; !fault && entry != end; entry.increment(fault)) {
      std::error_code ignored;
      if (entry->path().extension() != ".json" || !entry->is_regular_file(ignored)) continue;
      candidates.emplace_back(entry->last_write_time(ignored), entry->path().string());
      if (candidates.size() == most_candidates) break;
    }
  }
  std::sort(candidates.rbegin(), candidates.rend());
  for (const auto& [time, file] : candidates) {
    const run_figures* const figures = read(file);
    if (figures != nullptr && figures->program() == program) return figures;
  }
  return nullptr;
}

}  // namespace gpulog::lsp
