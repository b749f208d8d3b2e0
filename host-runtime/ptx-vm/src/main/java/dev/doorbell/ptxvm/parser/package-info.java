/**
 * PTX text to the decoded model: lexer, scoped names, directives. Knows no engine and no memory.
 */
@NullMarked
package dev.doorbell.ptxvm.parser;

import org.jspecify.annotations.NullMarked;
