package dev.doorbell.experiments.doctor;

import java.util.List;

/**
 * One thing that the doctor can find. Codes are stable: a number is never given to another finding.
 *
 * @param id such as {@code DB-PEERMEM-02}
 * @param title what is the case, in a few words
 * @param how from which files it is told, and by which rule
 * @param effect what it means for GPU-initiated communication
 * @param fix what to do; empty where nothing is to be done
 * @param sources where the rule comes from
 */
public record Code(
    String id,
    Verdict verdict,
    String title,
    String how,
    String effect,
    String fix,
    List<String> sources) {
  public Code {
    sources = List.copyOf(sources);
  }

  static Code pass(String id, String title, String how, String effect, String... sources) {
    return new Code(id, Verdict.PASS, title, how, effect, "", List.of(sources));
  }

  static Code info(
      String id, String title, String how, String effect, String fix, String... sources) {
    return new Code(id, Verdict.INFO, title, how, effect, fix, List.of(sources));
  }

  static Code absent(
      String id, String title, String how, String effect, String fix, String... sources) {
    return new Code(id, Verdict.ABSENT, title, how, effect, fix, List.of(sources));
  }

  static Code warn(
      String id, String title, String how, String effect, String fix, String... sources) {
    return new Code(id, Verdict.WARN, title, how, effect, fix, List.of(sources));
  }

  static Code fail(
      String id, String title, String how, String effect, String fix, String... sources) {
    return new Code(id, Verdict.FAIL, title, how, effect, fix, List.of(sources));
  }

  /** The part of the id between prefix and number. */
  public String area() {
    return id.substring(id.indexOf('-') + 1, id.lastIndexOf('-'));
  }
}
