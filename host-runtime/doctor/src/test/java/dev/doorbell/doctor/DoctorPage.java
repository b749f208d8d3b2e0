package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.log.LogPattern;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The doctor for readers: {@code docs/doctor.md} is what {@link #markdown} says. */
final class DoctorPage {
  private static final String INTRODUCTION =
      """
      # Doctor

      This page lists what `./doorbell doctor` finds on a machine, and the fix. The doctor says whether the machine can do
      GPUDirect RDMA. It reads files below `/proc`, `/sys`, `/dev` and library folders, and changes nothing; root sees more
      of PCI config space (ACS, payload and read sizes, tags).

          ./doorbell doctor                          the whole checklist
          ./doorbell doctor -q                       only what is wrong
          ./doorbell doctor --explain PEERMEM-02     a code: how it is known, its effect, fix and sources
          ./doorbell doctor --explain-log nccl.log   what lines of logs mean; - reads a pipe
          ./doorbell doctor --json                   for programs, and for the other host
          ./doorbell doctor --peer a.json            compares with the other host's report
          ./doorbell doctor --root DIR               looks at a copy of a machine's files

      | verdict | meaning |
      | --- | --- |
      | PASS | as expected |
      | INFO | worth knowing; nothing has to be done |
      | ABSENT | not there, or out of reach; nothing failed |
      | WARN | works, but slower or more fragile than it could |
      | FAIL | there, and broken |

      Exit code 4 when something is FAIL, else 0. A code is one situation with one verdict, and is stable. The manifest of
      a run on real devices holds the findings (`doctor` in `manifest.json`).

      Each check has a test with a made-up machine that has the fault. The doctor has examined one real machine, a virtual
      one with an H200 and no HCA.

      """;

  private static final String LOGS =
      """
      ## Lines of logs

      `--explain-log` and `./doorbell explain` take each line for a completion's status, or for the first of these patterns
      that it matches. They print code, count, first line, meaning and fix, and name the other lines that report something.
      Nothing recognised ends with 1. `./doorbell describe DB-LOG-12` prints one pattern, its meaning and its fix.

      """;

  private DoctorPage() {}

  static String markdown() {
    StringBuilder page = new StringBuilder(INTRODUCTION);
    Map<String, List<Code>> areas = new LinkedHashMap<>();
    Code.all()
        .forEach(code -> areas.computeIfAbsent(code.area(), _ -> new ArrayList<>()).add(code));
    page.append("## Codes\n");
    areas.forEach(
        (area, codes) -> {
          page.append("\n| code | verdict | what | fix |\n| --- | --- | --- | --- |\n");
          codes.forEach(
              code ->
                  page.append(
                      "| %s | %s | %s | %s |\n"
                          .formatted(
                              code.id(),
                              code.verdict(),
                              escaped(code.title()),
                              escaped(code.fix()))));
        });
    page.append('\n');
    page.append(LOGS);
    page.append("| library | patterns |\n| --- | --- |\n");
    Map<String, Integer> libraries = new TreeMap<>();
    LogPattern.all().forEach(pattern -> libraries.merge(pattern.library(), 1, Integer::sum));
    libraries.forEach((library, n) -> page.append("| %s | %d |\n".formatted(library, n)));
    return page.toString();
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }
}
