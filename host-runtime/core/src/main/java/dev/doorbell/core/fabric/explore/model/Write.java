package dev.doorbell.core.fabric.explore.model;

import org.jspecify.annotations.Nullable;

/** One write of a word of 8 bytes, or a part of it, and what it hands on. */
public final class Write {
  final Cell cell;

  /** Of the word's writes, from 1. */
  public final long order;

  /** The word after it. */
  public final long value;

  /** All ones in the bytes that it wrote. */
  final long mask;

  public final Actor actor;
  public final int epoch;
  public final int access;
  public final @Nullable Object at;
  public final Release @Nullable [] releases;
  @Nullable Write before;

  Write(
      Cell cell,
      long order,
      long value,
      long mask,
      Actor actor,
      int epoch,
      int access,
      @Nullable Object at,
      Release @Nullable [] releases,
      @Nullable Write before) {
    this.cell = cell;
    this.order = order;
    this.value = value;
    this.mask = mask;
    this.actor = actor;
    this.epoch = epoch;
    this.access = access;
    this.at = at;
    this.releases = releases;
    this.before = before;
  }
}
