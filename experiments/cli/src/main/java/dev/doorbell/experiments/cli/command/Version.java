package dev.doorbell.experiments.cli.command;

/** Version of this Doorbell; a test compares it with the build's. */
public final class Version {
  public static final String NUMBER = "0.2.0";

  private Version() {}
}
