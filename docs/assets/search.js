// A dash before a word excludes the word from a search, but users search for flags such as --query: the search worker
// gets the words of a query without leading dashes.
const QUERY = 2; // the type of the message that contains the text of a query
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  if (message.type === QUERY) {
    message = { ...message, data: message.data.replace(/(^|\s)-+/g, "$1") };
  }
  return post.call(this, message, ...rest);
};
