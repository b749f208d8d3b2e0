/** The JSON schemas as editors use them. */
@org.jspecify.annotations.NullMarked
package dev.doorbell.experiments.schema;
