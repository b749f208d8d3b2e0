package dev.doorbell.experiments.config.document;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.ParserException;
import org.snakeyaml.engine.v2.parser.Parser;

/**
 * A YAML parser that stops before its consumer runs out of stack, of memory or of time: at deep
 * nesting, at an alias within its own anchor, at aliases that stand for very many nodes, and at
 * numbers of very many digits.
 */
final class BoundedParser implements Parser {
  private static final int DEEPEST = 64;

  /** Aliases multiply; a file of a few lines may otherwise grow without end. */
  private static final int MOST_ALIASED = 100_000;

  /** More than any number has that means something here, in any base. */
  private static final int MOST_DIGITS = 400;

  private final Parser parser;
  private final Deque<Collection> open = new ArrayDeque<>();
  private final Map<Anchor, Long> sizes = new HashMap<>();
  private final Set<Anchor> openAnchors = new HashSet<>();
  private long aliased;

  private static final class Collection {
    final Optional<Anchor> anchor;
    long nodes = 1;

    Collection(Optional<Anchor> anchor) {
      this.anchor = anchor;
    }
  }

  BoundedParser(Parser parser) {
    this.parser = parser;
    open.push(new Collection(Optional.empty()));
  }

  @Override
  public boolean checkEvent(Event.ID choice) {
    return parser.checkEvent(choice);
  }

  @Override
  public Event peekEvent() {
    return parser.peekEvent();
  }

  @Override
  public boolean hasNext() {
    return parser.hasNext();
  }

  @Override
  public Event next() {
    Event event = parser.next();
    switch (event) {
      case CollectionStartEvent start -> begin(start);
      case AliasEvent alias -> alias(alias);
      case ScalarEvent scalar -> scalar(scalar);
      default -> {
        if (event.getEventId() == Event.ID.SequenceEnd
            || event.getEventId() == Event.ID.MappingEnd) {
          end();
        }
      }
    }
    return event;
  }

  private void begin(CollectionStartEvent event) {
    if (open.size() > DEEPEST) {
      throw refusal("more than %d levels of nesting".formatted(DEEPEST), event);
    }
    event.getAnchor().ifPresent(openAnchors::add);
    open.push(new Collection(event.getAnchor()));
  }

  private void end() {
    Collection ended = open.pop();
    ended.anchor.ifPresent(
        anchor -> {
          openAnchors.remove(anchor);
          sizes.put(anchor, ended.nodes);
        });
    open.element().nodes += ended.nodes;
  }

  private void alias(AliasEvent alias) {
    if (openAnchors.contains(alias.getAlias())) {
      throw refusal("an alias contains itself", alias);
    }
    long nodes = sizes.getOrDefault(alias.getAlias(), 1L);
    open.element().nodes += nodes;
    aliased += nodes;
    if (aliased > MOST_ALIASED) {
      throw refusal("aliases that stand for more than %,d nodes".formatted(MOST_ALIASED), alias);
    }
  }

  private void scalar(ScalarEvent scalar) {
    String text = scalar.getValue();
    if (scalar.isPlain() && text.length() > MOST_DIGITS && isNumber(text)) {
      throw refusal("a number of %,d digits".formatted(text.length()), scalar);
    }
    scalar.getAnchor().ifPresent(anchor -> sizes.put(anchor, 1L));
    open.element().nodes++;
  }

  /** Returns whether nothing in a text keeps it from being a number in some base. */
  private static boolean isNumber(String text) {
    return text.chars().allMatch(c -> Character.digit(c, 16) >= 0 || "+-._xXoO".indexOf(c) >= 0);
  }

  private static ParserException refusal(String what, Event event) {
    return new ParserException(what, event.getStartMark());
  }
}
