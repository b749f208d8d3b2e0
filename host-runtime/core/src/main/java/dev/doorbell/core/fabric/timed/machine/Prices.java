package dev.doorbell.core.fabric.timed.machine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Creates and changes records whose components are described by {@link Price}. */
public final class Prices {
  private Prices() {}

  /**
   * Returns a record with the given components; all others have their standard, or 0.
   *
   * @throws IllegalArgumentException when it lacks one of them
   */
  public static <R extends Record> R of(Class<R> type, Map<String, ?> given) {
    return with(create(type, component -> standard(component)), given);
  }

  private static Object standard(RecordComponent component) {
    Class<?> type = component.getType();
    if (type.isRecord()) {
      return of(type.asSubclass(Record.class), Map.of());
    }
    Price price = component.getAnnotation(Price.class);
    return cast(type, price == null ? 0 : price.standard());
  }

  /**
   * Returns a copy with other components.
   *
   * @throws IllegalArgumentException when it lacks one of them
   */
  public static <R extends Record> R with(R record, Map<String, ?> changed) {
    Class<R> type = typeOf(record);
    for (String name : changed.keySet()) {
      if (Arrays.stream(type.getRecordComponents()).noneMatch(c -> c.getName().equals(name))) {
        throw new IllegalArgumentException(type.getSimpleName() + " has no '" + name + "'");
      }
    }
    return create(
        type,
        component -> {
          Object value = changed.get(component.getName());
          return value == null
              ? get(record, component)
              : value instanceof Number number && component.getType().isPrimitive()
                  ? cast(component.getType(), number.doubleValue())
                  : value;
        });
  }

  /** Returns a copy in which everything that takes cycles takes {@code by} times as long. */
  public static <R extends Record> R scaled(R record, double by) {
    return create(
        typeOf(record),
        component -> {
          Object value = get(record, component);
          Price price = component.getAnnotation(Price.class);
          if (value instanceof Record nested) {
            return scaled(nested, by);
          }
          return switch (price == null ? 0 : price.cycles()) {
            case 1 -> (double) value * by;
            case -1 -> (double) value / by;
            default -> value;
          };
        });
  }

  /**
   * Creates a record of what {@code value} gives for each component, in order.
   *
   * @param value is asked once for each component
   */
  public static <R extends Record> R create(
      Class<R> type, Function<RecordComponent, Object> value) {
    RecordComponent[] components = type.getRecordComponents();
    Object[] values = new Object[components.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.apply(components[i]);
    }
    try {
      return type.getConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new))
          .newInstance(values);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(e.getTargetException().getMessage(), e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }

  public static Object cast(Class<?> type, double number) {
    if (type == boolean.class) {
      return number != 0;
    }
    if (type == int.class) {
      return (int) number;
    }
    return type == long.class ? (Object) (long) number : (Object) number;
  }

  /** Returns the key of a component in a topology file; empty for a record among its owner's. */
  public static String key(RecordComponent component) {
    Price price = component.getAnnotation(Price.class);
    if ((price != null && !price.key().isEmpty()) || component.getType().isRecord()) {
      return price == null ? "" : price.key();
    }
    String name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    return component.getType() == double.class ? name + "_ns" : name;
  }

  private static Object get(Record record, RecordComponent component) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(component.toString(), e);
    }
  }

  @SuppressWarnings("unchecked") // a record's class is final
  private static <R extends Record> Class<R> typeOf(R record) {
    return (Class<R>) record.getClass();
  }
}
