#include "cli/program_image.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

constexpr const char* own_file = "/proc/self/exe";

// Behind the executable: the image in CBOR, its length in bytes (8 bytes, the lowest first), and this.
constexpr std::string_view mark = "gpulog program 1";
constexpr std::size_t length_bytes = 8;
constexpr std::size_t trailer_bytes = length_bytes + mark.size();

std::string length_text(std::uint64_t length) {
  std::string text;
  for (std::size_t i = 0; i < length_bytes; ++i) text += static_cast<char>(length >> (8 * i) & 0xff);
  return text;
}

std::uint64_t length_of(std::string_view text) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  return length;
}

std::string packed(const program_image& image) {
  nlohmann::json sources = nlohmann::json::array();
  for (const source_text& source : image.sources) sources.push_back({source.path, source.identity, source.text});
  std::string bytes;
  nlohmann::json::to_cbor({{"sources", sources}, {"arguments", image.arguments}, {"folder", image.folder}}, bytes);
  return bytes;
}

program_image unpacked(const std::string& bytes) {
  const nlohmann::json tree = nlohmann::json::from_cbor(bytes);
  program_image image;
  for (const nlohmann::json& source : tree.at("sources")) {
    image.sources.push_back({source.at(0), source.at(1), source.at(2)});
  }
  tree.at("arguments").get_to(image.arguments);
  tree.at("folder").get_to(image.folder);
  return image;
}

}  // namespace

void write_executable(const std::string& path, const program_image& image) {
  namespace files = std::filesystem;
  const std::string unfinished = path + ".unfinished";
  const auto fail = [&] {
    std::error_code ignored;
    files::remove(unfinished, ignored);
    throw output_error("Cannot write program " + path);
  };
  const std::string bytes = packed(image);
  {
    std::ifstream own(own_file, std::ios::binary);
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    if (!own || !out) fail();
    out << own.rdbuf() << bytes << length_text(bytes.size()) << mark;
    out.close();
    if (!out || own.bad()) fail();
  }
  std::error_code fault;
  const files::perms everybody = files::perms::owner_exec | files::perms::group_exec | files::perms::others_exec;
  files::permissions(unfinished, everybody, files::perm_options::add, fault);
  if (!fault) files::rename(unfinished, path, fault);
  if (fault) fail();
}

std::optional<program_image> own_image() {
  std::ifstream own(own_file, std::ios::binary);
  std::array<char, trailer_bytes> trailer{};
  own.seekg(-static_cast<std::streamoff>(trailer_bytes), std::ios::end);
  const std::streamoff end = own.tellg();
  if (!own.read(trailer.data(), trailer_bytes)) return std::nullopt;
  const std::string_view text(trailer.data(), trailer.size());
  if (text.substr(length_bytes) != mark) return std::nullopt;
  const std::uint64_t length = length_of(text);
  const auto broken = [] { return input_error("the program behind this executable is damaged"); };
  if (length > static_cast<std::uint64_t>(end)) throw broken();
  std::string bytes(length, '\0');
  own.seekg(end - static_cast<std::streamoff>(length));
  if (!own.read(bytes.data(), static_cast<std::streamsize>(length))) throw broken();
  try {
    return unpacked(bytes);
  } catch (const nlohmann::json::exception&) {
    throw broken();
  }
}

}  // namespace gpulog::cli
