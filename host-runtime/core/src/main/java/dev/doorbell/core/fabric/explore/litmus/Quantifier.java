package dev.doorbell.core.fabric.explore.litmus;

/** What a litmus test claims about its condition. */
public enum Quantifier {
  /** Some execution ends so. */
  EXISTS("exists"),
  /** No execution ends so. */
  NOT_EXISTS("~exists"),
  /** Every execution ends so. */
  FORALL("forall");

  private final String text;

  Quantifier(String text) {
    this.text = text;
  }

  /** As written in a file. */
  public String text() {
    return text;
  }
}
