package dev.doorbell.core.fabric.timed.event;

/** Where the events of one rank belong: {@link EventQueue#rank} gives it. */
public final class RankEvents {
  final Timeline timeline = new Timeline();

  RankEvents() {}
}
