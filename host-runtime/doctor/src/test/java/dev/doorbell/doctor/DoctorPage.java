package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.log.LogPattern;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The doctor for readers: {@code docs/doctor.md} is what {@link #markdown} says. */
final class DoctorPage {
  private static final String INTRODUCTION =
      """
      # Doctor

      `./doorbell doctor` says whether this machine can do GPUDirect RDMA and what is in the way. It
      reads files below `/proc`, `/sys`, `/dev` and library folders, and changes nothing. As root it
      sees more of PCI config space (ACS, payload and read sizes, tags).

          ./doorbell doctor                          the whole checklist
          ./doorbell doctor -q                       only what is wrong
          ./doorbell doctor --explain PEERMEM-02     what a code means, how it is known, what fixes it
          ./doorbell doctor --explain-log nccl.log   what lines of logs mean; - reads a pipe
          ./doorbell doctor --json                   for programs, and for the other host
          ./doorbell doctor --peer a.json            compares with the other host's report
          ./doorbell doctor --root DIR               looks at a copy of a machine's files

      On a laptop without GPU and HCA:

      ```
      ABSENT  DB-DRIVER-05     no NVIDIA GPU (none on the PCI bus)
      ABSENT  DB-RDMA-06       no RDMA device (none that is hardware)
      ABSENT  DB-PEERMEM-07    no pair of GPU and HCA (no usable GPU, no HCA)

      this machine can
        yes      PTX VM and software HCA: demo, run, explore, kernel, hca
        no       kernels on a GPU                                          DB-DRIVER-05
        no       an HCA that reads and writes GPU memory                   DB-DRIVER-05
        no       a GPU that rings the HCA's doorbell                       DB-DRIVER-05
      ```

      | verdict | meaning |
      | --- | --- |
      | PASS | as expected |
      | INFO | worth knowing; nothing has to be done |
      | ABSENT | not there, or out of reach: nothing can be said, and nothing failed |
      | WARN | works, but slower or more fragile than it could |
      | FAIL | there, and broken |

      Exit code 4 when something is FAIL, else 0. Each code is one situation with one verdict; codes are
      stable. The manifest of a run on real devices (a CUDA GPU, or an HCA of libibverbs) holds
      the doctor's findings (`doctor` in `manifest.json`).

      The rules come from the vendors' documents, from the sources of the libraries, and from public
      reports, which each code names. What they say has been tried on made-up machines: one that is
      healthy, and one for each fault, all in the tests. Of real machines it has examined a virtual one with
      an H200 and no HCA, and none with both.

      """;

  private static final String LOGS =
      """
      ## Lines of logs

      `--explain-log` and `./doorbell explain` look into each line for the status of a completion, however it is
      written, else take it for the first of these patterns that it matches, and sum up: code, how often, the first of them, what
      it means and what fixes it. Lines that report something and are in no row are named. Nothing recognised ends with 1.
      `./doorbell describe DB-LOG-12` prints the pattern of one, its meaning and its fix.

      """;

  private DoctorPage() {}

  static String markdown() {
    StringBuilder page = new StringBuilder(INTRODUCTION);
    Map<String, List<Code>> areas = new LinkedHashMap<>();
    Code.all()
        .forEach(code -> areas.computeIfAbsent(code.area(), _ -> new ArrayList<>()).add(code));
    page.append("## Codes\n\n");
    areas.forEach(
        (area, codes) -> {
          page.append("| code | verdict | what |\n| --- | --- | --- |\n");
          codes.forEach(
              code ->
                  page.append(
                      "| [%s](#%s) | %s | %s |\n"
                          .formatted(
                              code.id(), anchor(code), code.verdict(), escaped(code.title()))));
          page.append('\n');
        });
    areas.values().forEach(codes -> codes.forEach(code -> section(page, code)));
    page.append(LOGS);
    page.append("| library | codes |\n| --- | --- |\n");
    Map<String, List<String>> libraries = new TreeMap<>();
    LogPattern.all()
        .forEach(
            pattern ->
                libraries
                    .computeIfAbsent(pattern.library(), _ -> new ArrayList<>())
                    .add(pattern.code().replace("DB-LOG-", "")));
    libraries.forEach(
        (library, codes) ->
            page.append("| %s | %s |\n".formatted(library, String.join(" ", codes))));
    return page.toString();
  }

  private static void section(StringBuilder page, Code code) {
    page.append("### %s\n\n".formatted(code.id()));
    page.append("**%s**: %s.\n\n".formatted(code.verdict(), code.title()));
    page.append("- known by: ").append(code.how()).append('\n');
    page.append("- effect: ").append(code.effect()).append('\n');
    if (!code.fix().isEmpty()) {
      page.append("- fix: ").append(code.fix()).append('\n');
    }
    if (!code.sources().isEmpty()) {
      page.append("- sources: ").append(String.join("; ", code.sources())).append('\n');
    }
    page.append('\n');
  }

  private static String anchor(Code code) {
    return code.id().toLowerCase(Locale.ROOT);
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }
}
