"""Writers: each turns a run into text, and knows neither pytest nor how anything was measured."""
