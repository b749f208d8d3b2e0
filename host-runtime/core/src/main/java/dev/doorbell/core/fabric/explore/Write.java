package dev.doorbell.core.fabric.explore;

import org.jspecify.annotations.Nullable;

/** One write of a word of 8 bytes, or a part of it, and what it hands on. */
final class Write {
  final Cell cell;

  /** Of the word's writes, from 1. */
  final long order;

  /** The word after it. */
  final long value;

  /** All ones in the bytes that it wrote. */
  final long mask;

  final Actor actor;
  final int epoch;
  final int access;
  final @Nullable Object at;
  final Release @Nullable [] releases;
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
