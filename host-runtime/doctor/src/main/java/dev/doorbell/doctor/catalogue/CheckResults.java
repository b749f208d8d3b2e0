package dev.doorbell.doctor.catalogue;

import java.util.ArrayList;
import java.util.List;

/** Collects findings in the order in which checks report them. */
public final class CheckResults {
  private final List<CheckResult> list = new ArrayList<>();

  /**
   * Adds a finding.
   *
   * @param code id of an existing code
   * @param where the device, file or variable; empty when the whole machine is meant
   * @param what the situation with its numbers
   */
  public void add(String code, String where, String what) {
    list.add(new CheckResult(Code.of(code), where, what));
  }

  /** Returns what has been found so far. */
  public List<CheckResult> list() {
    return List.copyOf(list);
  }
}
