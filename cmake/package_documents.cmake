# Run by CPack on the files of each package: adds the license and both changelogs to Debian's documentation folder, and
# compresses the changelogs and the manual page.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

get_filename_component(sources ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} key)
  set(name ${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  if(NOT EXISTS ${root})
    continue()
  endif()
  set(documents ${root}/share/doc/${name})
  file(MAKE_DIRECTORY ${documents})
  file(WRITE ${documents}/copyright
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gpulog

Files: *
Copyright: Copyright (C) 2026 the authors of gpulog
License: Apache-2.0
 On Debian systems, the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
  file(GLOB_RECURSE runtime RELATIVE ${root} ${root}/lib*/libcudart_static.a)
  if(runtime)
    file(APPEND ${documents}/copyright
         "
Files: usr/${runtime}
Copyright: NVIDIA Corporation
License: CUDA-EULA
 The End User License Agreement of NVIDIA's CUDA Toolkit, https://docs.nvidia.com/cuda/eula.
 Attachment A lists the files that applications may distribute.
")
  endif()
  file(COPY ${sources}/CHANGELOG.md DESTINATION ${documents})
  file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
  compress(${documents}/changelog)
  file(WRITE ${documents}/changelog.Debian
       "gpulog (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * The release of this version.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${documents}/changelog.Debian)
  file(GLOB pages ${root}/share/man/man1/*.1)
  foreach(page ${pages})
    compress(${page})
  endforeach()
endforeach()
