#include "cli/profile/figures_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gpulog::cli {
namespace {

std::string short_number(double number, double step, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(number) >= step * 0.9995 && prefix + 1 < std::size(prefixes)) {
    number /= step;
    ++prefix;
  }
  return fmt::format("{}{}{}", prefix == 0 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number),
                     prefixes[prefix], unit);
}

}  // namespace

double number_in(const nlohmann::ordered_json& object, const char* key) { return object.value(key, 0.0); }
std::string text_in(const nlohmann::ordered_json& object, const char* key) { return object.value(key, std::string()); }

std::string count_text(double number) { return short_number(number, 1000, ""); }
std::string bytes_text(double number) { return short_number(number, 1024, "B"); }
std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

std::string shortened(const std::string& text, std::size_t most) {
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  std::size_t characters = 0;
  std::size_t cut = 0;  // start of the last character before "..."
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_inside(text[i])) continue;
    if (characters + 3 == most) cut = i;
    if (++characters > most) return text.substr(0, cut) + "...";
  }
  return text;
}

std::string shortened_path(const std::string& path, std::size_t most) {
  if (path.size() <= most) return path;
  std::size_t begin = path.size() - most + 3;
  while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0U) == 0x80U) ++begin;
  return "..." + path.substr(begin);
}

std::string indented_lines(const std::string& text, std::size_t indentation) {
  std::string result;
  std::string line(indentation, ' ');
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const bool is_first = line.size() == indentation;
    if (!is_first && line.size() + 1 + end - begin > table_columns) {
      result += line + "\n";
      line.assign(indentation, ' ');
    } else if (!is_first) {
      line += ' ';
    }
    line += shortened(text.substr(begin, end - begin), table_columns - indentation);
    begin = end + 1;
  }
  return result + line + "\n";
}

}  // namespace gpulog::cli
