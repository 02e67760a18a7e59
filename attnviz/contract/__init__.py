"""The messages between server and browser, declared once; the browser's TypeScript types are generated from them."""
