package dev.doorbell.doctor.report;

import dev.doorbell.doctor.Ability;
import dev.doorbell.doctor.Diagnosis;
import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.HostFacts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints a diagnosis for a terminal. */
public final class TextReport {
  private static final String INDENT = " ".repeat(8);

  private TextReport() {}

  /**
   * The whole report.
   *
   * @param quiet only what is wrong
   * @param detailed effect and fix of everything
   */
  public static String text(Diagnosis diagnosis, boolean quiet, boolean detailed) {
    StringBuilder text = new StringBuilder();
    if (!quiet) {
      text.append(machine(diagnosis.facts().host())).append("\n\n");
    }
    Map<Code, List<CheckResult>> byCode = new LinkedHashMap<>();
    diagnosis
        .findings()
        .forEach(
            finding -> byCode.computeIfAbsent(finding.code(), _ -> new ArrayList<>()).add(finding));
    byCode.forEach(
        (code, findings) -> {
          if (!quiet || wrong(code)) {
            text.append(code(code, findings, detailed));
          }
        });
    if (quiet) {
      return text.toString();
    }
    text.append(matrix(diagnosis.topology()));
    text.append("\nthis machine can\n");
    for (Ability ability : diagnosis.abilities()) {
      text.append(
          "  %-7s  %-56s  %s"
              .formatted(
                  ability.answer().name().toLowerCase(Locale.ROOT),
                  ability.name(),
                  ability.obstacle().map(Code::id).orElse(""))
              .stripTrailing());
      text.append('\n');
    }
    return text.append('\n').append(counts(diagnosis)).append('\n').toString();
  }

  private static boolean wrong(Code code) {
    return code.verdict() == CheckVerdict.WARN || code.verdict() == CheckVerdict.FAIL;
  }

  private static String machine(HostFacts host) {
    StringBuilder text = new StringBuilder();
    text.append("kernel %s   cpu %s".formatted(known(host.kernel()), known(host.cpuModel())));
    text.append(host.virtualMachine() ? "   virtual machine" : "");
    text.append(host.container() ? "   container" : "");
    return text.toString();
  }

  private static String known(String word) {
    return word.isEmpty() ? "unknown" : word;
  }

  private static String code(Code code, List<CheckResult> findings, boolean detailed) {
    StringBuilder text = new StringBuilder();
    text.append("%-6s  %-15s  %s".formatted(code.verdict(), code.id(), code.title()));
    boolean wrong = wrong(code);
    if (findings.size() == 1 && !wrong) {
      text.append(" (").append(findings.getFirst().text()).append(')');
    }
    text.append('\n');
    if (findings.size() > 1 || wrong) {
      findings.forEach(finding -> Paragraphs.add(text, INDENT, finding.text()));
    }
    if (wrong || detailed) {
      Paragraphs.add(text, INDENT + "effect  ", code.effect());
      Paragraphs.add(text, INDENT + "fix     ", code.fix());
    }
    return text.toString();
  }

  /** Everything about one code. */
  public static String explain(Code code) {
    StringBuilder text = new StringBuilder();
    text.append("%s  %s  %s%n".formatted(code.id(), code.verdict(), code.title()));
    Paragraphs.add(text, "  known by  ", code.how());
    Paragraphs.add(text, "  effect    ", code.effect());
    Paragraphs.add(text, "  fix       ", code.fix());
    code.sources().forEach(source -> Paragraphs.add(text, "  source    ", source));
    return text.toString();
  }

  /** Distances, GPUs down and HCAs across. */
  private static String matrix(PciTopology topology) {
    if (topology.paths().isEmpty()) {
      return "";
    }
    List<RdmaDevice> hcas =
        topology.paths().stream().map(PciTopology.Path::hca).distinct().toList();
    List<PciFunction> gpus =
        topology.paths().stream().map(PciTopology.Path::gpu).distinct().toList();
    int width = Math.max(5, hcas.stream().mapToInt(hca -> hca.name().length()).max().orElse(0));
    String cell = "  %-" + width + "s";
    StringBuilder text = new StringBuilder("\n%-13s".formatted("distance"));
    hcas.forEach(hca -> text.append(cell.formatted(hca.name())));
    trim(text).append('\n');
    for (PciFunction gpu : gpus) {
      text.append("%-13s".formatted(gpu.address()));
      for (PciTopology.Path path : topology.from(gpu)) {
        text.append(cell.formatted(path.distance() + (path.redirected() ? "*" : "")));
      }
      trim(text).append('\n');
    }
    if (topology.paths().stream().anyMatch(PciTopology.Path::redirected)) {
      text.append("* ACS sends it through the host bridge\n");
    }
    return text.toString();
  }

  private static StringBuilder trim(StringBuilder text) {
    text.setLength(text.toString().stripTrailing().length());
    return text;
  }

  private static String counts(Diagnosis diagnosis) {
    return "%d passed, %d info, %d absent, %d warned, %d failed"
        .formatted(
            diagnosis.count(CheckVerdict.PASS),
            diagnosis.count(CheckVerdict.INFO),
            diagnosis.count(CheckVerdict.ABSENT),
            diagnosis.count(CheckVerdict.WARN),
            diagnosis.count(CheckVerdict.FAIL));
  }
}
