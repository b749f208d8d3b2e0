/** Reads the text of litmus tests. */
@NullMarked
package dev.doorbell.core.fabric.explore.litmus.parser;

import org.jspecify.annotations.NullMarked;
