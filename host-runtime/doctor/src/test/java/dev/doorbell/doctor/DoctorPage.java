package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.log.LogPattern;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The doctor for readers: {@code docs/doctor.md} is what {@link #markdown} says. */
final class DoctorPage {
  private static final String INTRODUCTION =
      """
      # Doctor

      `./doorbell doctor` says whether a machine can do GPUDirect RDMA. It reads files below `/proc`, `/sys`, `/dev` and library
      folders, and changes nothing. Root sees more of PCI config space: ACS, payload and read sizes, tags.

          ./doorbell doctor                          the whole checklist
          ./doorbell doctor -q                       only what is wrong
          ./doorbell doctor --explain PEERMEM-02     a code: evidence, effect, fix and sources
          ./doorbell doctor --root DIR               examines a copy of a machine's files

      | verdict | meaning |
      | --- | --- |
      | PASS | as expected |
      | INFO | no action needed |
      | ABSENT | not there, or out of reach; nothing failed |
      | WARN | works, but slower or less reliably than it could |
      | FAIL | there, and broken |

      The exit code is 4 if a finding is FAIL, else 0. Codes are stable. The manifest of a run on real devices keeps the
      findings (`doctor` in `manifest.json`). Tests give each check a synthetic machine with the fault. The doctor has
      examined one real machine: a virtual machine with an H200 and no HCA.

      """;

  private static final String LOGS =
      """
      ## Lines of logs

      `./doorbell explain` matches each line with a completion status, then with these patterns; the first match counts.
      It prints code, count, first line, meaning and fix, and names unmatched lines that report something. The exit code is 1
      if no line matches. `./doorbell describe DB-LOG-12` prints one pattern.

      """;

  private DoctorPage() {}

  static String markdown() {
    StringBuilder page = new StringBuilder(INTRODUCTION);
    page.append(
        "## Codes\n\nThe doctor prints the fix of each finding. Codes of PASS, INFO and ABSENT are left out here.\n\n");
    page.append("| code | verdict | finding |\n| --- | --- | --- |\n");
    Code.all().stream()
        .filter(code -> code.verdict().compareTo(CheckVerdict.WARN) >= 0)
        .forEach(
            code ->
                page.append(
                    "| %s | %s | %s |\n"
                        .formatted(code.id(), code.verdict(), escaped(code.title()))));
    page.append('\n');
    page.append(LOGS);
    Map<String, Integer> libraries = new TreeMap<>();
    LogPattern.all().forEach(pattern -> libraries.merge(pattern.library(), 1, Integer::sum));
    page.append("Patterns by library: ");
    page.append(
        libraries.entrySet().stream()
            .map(each -> "%s %d".formatted(each.getKey(), each.getValue()))
            .collect(Collectors.joining(", ", "", ".\n")));
    return page.toString();
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }
}
