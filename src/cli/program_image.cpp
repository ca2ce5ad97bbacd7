#include "cli/program_image.hpp"

#include <algorithm>
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
#include "io/files/output_files.hpp"

namespace gpulog::cli {
namespace {

constexpr const char* own_file = "/proc/self/exe";

// Appended to the executable: the image in CBOR, its length in bytes (8 bytes, little endian), and this mark.
constexpr std::string_view mark = "gpulog program 1";
constexpr std::size_t length_bytes = 8;
constexpr std::size_t trailer_bytes = length_bytes + mark.size();

// Written into bytes of the ELF header without a meaning (the end of e_ident): marks an executable with a program, even
// if the appended program is missing.
constexpr std::streamoff image_flag_place = 9;
constexpr std::string_view image_flag = "gpulog";

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

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return std::filesystem::equivalent(one, other, ignored);
}

/// @throws output_error if the executable would overwrite one of its own inputs
void refuse_own_files(const std::string& path, const program_image& image) {
  const bool is_source = std::any_of(image.sources.begin(), image.sources.end(),
                                     [&](const source_text& source) { return is_same_file(path, source.path); });
  if (is_source) throw output_error("Cannot replace " + path + ": it is a file of the program");
  if (is_same_file(path, own_file)) throw output_error("Cannot replace " + path + ": it is gpulog itself");
}

}  // namespace

void write_executable(const std::string& path, const program_image& image) {
  refuse_own_files(path, image);
  io::output_file out(path, io::replaceable::regular_file);
  std::ifstream own(own_file, std::ios::binary);
  std::string block(std::size_t{1} << 20, '\0');
  for (bool is_first = true; own.good(); is_first = false) {
    own.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto size = static_cast<std::size_t>(own.gcount());
    if (is_first && size >= image_flag_place + image_flag.size()) {
      block.replace(image_flag_place, image_flag.size(), image_flag);
    }
    out.write(std::string_view(block).substr(0, size));
  }
  if (!own.eof()) throw output_error("Cannot read gpulog's own file, to write " + path);
  const std::string bytes = packed(image);
  out.write(bytes);
  out.write(length_text(bytes.size()));
  out.write(mark);
  out.make_executable();
  out.close();
  out.rename();
}

std::optional<program_image> own_image() {
  std::ifstream own(own_file, std::ios::binary);
  std::array<char, image_flag.size()> flag{};
  own.seekg(image_flag_place);
  if (!own.read(flag.data(), flag.size()) || std::string_view(flag.data(), flag.size()) != image_flag) {
    return std::nullopt;
  }
  const auto broken = [] { return input_error("the program behind this executable is damaged or cut off"); };
  std::array<char, trailer_bytes> trailer{};
  own.seekg(-static_cast<std::streamoff>(trailer_bytes), std::ios::end);
  const std::streamoff end = own.tellg();
  if (!own.read(trailer.data(), trailer_bytes)) throw broken();
  const std::string_view text(trailer.data(), trailer.size());
  if (text.substr(length_bytes) != mark) throw broken();
  const std::uint64_t length = length_of(text);
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
