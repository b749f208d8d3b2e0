/** Tables of words and bit fields for people, shared by the printers of all formats. */
@NullMarked
package dev.doorbell.core.print;

import org.jspecify.annotations.NullMarked;
