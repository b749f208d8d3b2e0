package dev.doorbell.doctor.catalogue;

import java.util.List;

/**
 * A variable of a communication library, an entry of {@code knobs.yaml}.
 *
 * @param meaning what it sets
 * @param advice what to do with it
 */
public record Knob(String name, String meaning, String advice) {
  private static final List<Knob> ALL = DataFile.list(Knob.class, "knobs.yaml", Knob.class);

  public Knob {
    if (meaning.isEmpty() || advice.isEmpty()) {
      throw new IllegalArgumentException("incomplete entry " + name);
    }
  }

  public static List<Knob> all() {
    return ALL;
  }
}
