package dev.doorbell.experiments.plan;

import java.util.List;

/**
 * Everything that happened to one message in virtual time, nanoseconds from its first store.
 *
 * @param title what was traced
 * @param steps in the order of their beginnings
 */
public record Timeline(String title, List<Step> steps) {
  public Timeline {
    steps = List.copyOf(steps);
  }

  /** Kind of an event. */
  public enum Kind {
    /** A thread stores payload where the HCA can reach it. */
    PAYLOAD_STORE("payload stored"),
    /** A thread stores a WQE. */
    WQE_STORE("WQE stored"),
    /** A thread stores the doorbell record. */
    RECORD_STORE("doorbell record stored"),
    /** A thread stores to the doorbell register. */
    DOORBELL_STORE("doorbell stored"),
    /** A thread waits for a fence. */
    FENCE("fence"),
    /** The CPU takes a command. */
    COMMAND("CPU takes the command"),
    /** A doorbell or BlueFlame write is at the HCA. */
    DOORBELL("doorbell at the HCA"),
    /** The HCA holds the WQE. */
    WQE("WQE at the HCA"),
    /** The HCA holds the payload. */
    PAYLOAD("payload at the HCA"),
    /** The last packet has left. */
    EMITTED("last packet left"),
    /** The payload can be seen at the target. */
    VISIBLE("payload visible"),
    /** The CQE can be seen. */
    CQE("CQE visible"),
    /** Posted writes cross PCIe. */
    WRITE_TLP("MWr"),
    /** Read requests cross PCIe. */
    READ_TLP("MRd"),
    /** Completions cross PCIe. */
    COMPLETION_TLP("CplD"),
    /** A packet crosses the network. */
    PACKET("packet");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    /** In words, for legends. */
    public String words() {
      return words;
    }

    /** Returns whether it goes from one place to another. */
    public boolean travels() {
      return this == WRITE_TLP || this == READ_TLP || this == COMPLETION_TLP || this == PACKET;
    }
  }

  /**
   * One thing that happens.
   *
   * @param from when it begins
   * @param until when it ends; the same for an instant
   * @param place where, such as {@code rank0.gpu0}
   * @param target where it ends; the same place for what does not travel
   * @param bytes that it is about; 0 where none
   * @param text one line for people
   */
  public record Step(
      long from, long until, String place, String target, Kind kind, long bytes, String text) {}
}
