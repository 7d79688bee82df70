# What Doxygen reads in place of a file, line for line: the first comment of a header is what the file is for, and links
# of a page lead to its headings, to other pages, or out of build/docs/html to the tree.
FNR == 1 {
  header = FILENAME ~ /\.hpp$/
  top = header
  root = ENVIRON["PWD"] "/"
  page = index(FILENAME, root) == 1 ? substr(FILENAME, length(root) + 1) : FILENAME
  folder = page
  sub(/[^\/]*$/, "", folder)
  page = name_of(page)
}

# A page by its path: "docs/how-to/race.md" -> docs-how-to-race
function name_of(path) {
  sub(/\.md$/, "", path)
  gsub(/\//, "-", path)
  return path
}

# As the heading's anchor has it: "Figures and comparisons" -> figures-and-comparisons
function slug(text) {
  text = tolower(text)
  gsub(/[^a-z0-9 _-]/, "", text)
  gsub(/ /, "-", text)
  return text
}

# "docs/" and "../results/x" -> "results/x"
function from_root(target) {
  target = folder target
  while (match(target, /[^\/.]+\/\.\.\//)) target = substr(target, 1, RSTART - 1) substr(target, RSTART + RLENGTH)
  return target
}

function link(text, target,    hash, file) {
  hash = index(target, "#")
  if (target ~ /^https?:/) return "[" text "](" target ")"
  if (hash > 0) {
    file = hash > 1 ? name_of(from_root(substr(target, 1, hash - 1))) : page
    return "[" text "](#" file "-" substr(target, hash + 1) ")"
  }
  file = from_root(target)
  if (file ~ /^docs\/.*\.md$/ || file ~ /^(CONTRIBUTING|README)\.md$/)
    return "[" text "](" target ")"
  return "<a href=\"../../../" file "\">" text "</a>"
}

# mawk and gawk have no replacement by a function.
function linked(line,    out, all, close_text) {
  out = ""
  while (match(line, /!?\[[^][]*\]\([^()]*\)/)) {
    out = out substr(line, 1, RSTART - 1)
    all = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    close_text = index(all, "](")
    if (substr(all, 1, 1) == "!")
      out = out all
    else
      out = out link(substr(all, 2, close_text - 2), substr(all, close_text + 2, length(all) - close_text - 2))
  }
  return out line
}

!header && /^```/ { fenced = !fenced }
!header && !fenced && /^##+ / {
  heading = $0
  sub(/^##+ /, "", heading)
  print $0 " {#" page "-" slug(heading) "}"
  next
}
!header { print fenced ? $0 : linked($0); next }

# Here a header: its first comment becomes that of the file. The lines that this adds go again with the next ones that
# mean nothing to a reader, so that warnings name the right lines.
top && FNR == 1 { print "/// @file"; added = 1; code = 0 }
top && /^\/\/   / {
  if (!code) { print "/// @code{.cpp}"; code = 1; ++added }
  print "///" substr($0, 3)
  next
}
top && code { print "/// @endcode"; code = 0; ++added }
top && /^\/\// { print "/" $0; next }
{ top = 0 }
added > 0 && /^(#pragma once|#include .*|)$/ { --added; next }
# Operators do what they say.
/^ +friend .*operator.*(default|}|;)$/ { print ""; next }
{ print }
